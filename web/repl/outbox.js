// What a program writes and shows, on its way to the page.
//
// A message is posted at once. As each takes the page's time, those of a flood wait and go together: the
// page stays usable while a program prints without end. Of too many, the first text is left out.

const FLOOD_MS = 100;
const MESSAGES_AT_ONCE = 100; // in that time
const MAX_UNREAD = 20; // posted messages that the page, which may be busy, has not received
const MAX_WAITING = 1000; // as many as the page shows of a run

let received = null; // how many posted messages the page has received, in memory that both share
let posted = 0;
let waiting = [];
let timer = null;
let began = 0;
let count = 0;

/** Takes the memory in which the page counts what it receives, or null where browsers share none. */
export function setReceived(counter) {
  received = counter;
}

/** Posts a message, or lets it wait for others in a flood. */
export function post(message) {
  const last = waiting.at(-1);
  if ("text" in message && last?.stream === message.stream) {
    last.text += message.text;
  } else {
    waiting.push(message);
  }
  const now = performance.now();
  if (now - began > FLOOD_MS) {
    [began, count] = [now, 0];
  }
  count += 1;
  const unread = received === null ? 0 : posted - Atomics.load(received, 0);
  if (count <= MESSAGES_AT_ONCE && unread < MAX_UNREAD) {
    postWaiting();
  } else {
    if (waiting.length > MAX_WAITING) {
      leaveOut(waiting.length - MAX_WAITING);
    }
    timer ??= setTimeout(postWaiting, FLOOD_MS); // Python may await something
  }
}

/** Leaves out messages of text, the first ones, and of others if there are no such; the page is told. */
function leaveOut(count) {
  if (waiting[0].isOmission !== true) {
    waiting.unshift({ isOmission: true });
    count += 1;
  }
  for (; count > 0; count -= 1) {
    const index = waiting.findIndex((message) => "text" in message);
    waiting.splice(Math.max(index, 1), 1);
  }
}

/** Posts the messages that wait. */
export function postWaiting() {
  clearTimeout(timer);
  timer = null;
  if (waiting.length > 0) {
    postMessage({ messages: waiting });
    posted += 1;
    waiting = [];
  }
}
