// Requests to servers. Python sees that a promise was rejected only by an error with a stack, which
// errors of WebKit's network lack; it would wait for ever.
export default function fetching() {
  const withStack = ({ name, message }) => Object.assign(new Error(message), { name });

  const request = async (url, options) => {
    const response = await fetch(String(url), options);
    return { status: response.status, data: response.ok ? await response.arrayBuffer() : undefined };
  };

  const attempt = (url, options) =>
    request(url, options).catch((error) => Promise.reject(withStack(error)));

  // Texts come from Python as arrays that become them, see `javascript_text`.
  const post = (url, headers, body) =>
    attempt(url, { method: "POST", headers: JSON.parse(headers), body: String(body) });

  return { get: attempt, post };
}
