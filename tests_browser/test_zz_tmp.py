from tests_browser.python_page import PythonPage
SRC='''
import webtensor as wt
wt.set_backend("webgl")
b=wt.backend()
log=[]
q=b._queue
op=q.push
def push(record,*w):
    log.append(("push",w)); return op(record,*w)
b._push=push; q.push=push
of=q._execute
def ex(a):
    log.append("execute"); return of(a)
q._execute=ex
od=b._device
class D:
    def __getattr__(s,n):
        f=getattr(od,n)
        def g(*a):
            log.append((n,)+tuple(str(x)[:20] for x in a)); return f(*a)
        return g
b._device=D()
b.textures._create=b._device.createTexture
b.programs._device=b._device
def two():
    x=wt.matmul([[1.0]*4]*4, [[2.0]*4]*4); y=wt.matmul([[3.0]*4]*4, [[2.0]*4]*4, True,True)
    return x.tolist()[0][0],y.tolist()[0][0]
for i in range(2):
    log.append(str(two()))
list(map(str,log))
'''
def test_it(chromium_python: PythonPage):
    for row in chromium_python.run(SRC): print(row)
