// Requests to servers. Pyodide takes a rejected promise's reason for an error only if it has a stack.
// The reasons of WebKit's network have none, and Python would wait for ever.
export default function fetching() {
  const withStack = ({ name, message }) => Object.assign(new Error(message), { name });

  const attempt = async (url, options) => {
    const response = await fetch(String(url), options);
    return { status: response.status, data: response.ok ? await response.arrayBuffer() : undefined };
  };

  const request = (url, options) =>
    attempt(url, options).catch((error) => Promise.reject(withStack(error)));

  const get = (url) => request(url);

  // Texts come from Python as arrays that become them, see `javascript_text`.
  const post = (url, headers, body) =>
    request(url, { method: "POST", headers: JSON.parse(headers), body: String(body) });

  return { get, post };
}
