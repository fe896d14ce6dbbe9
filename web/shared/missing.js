// Says at which address there is no page.

document.getElementById("address").textContent = decoded(location.pathname);

function decoded(path) {
  try {
    return decodeURI(path);
  } catch {
    return path; // what follows a "%" is no UTF-8
  }
}
