// Passes requests on to an MCP server with its token, for clients that cannot send a header of their own.
//   TOKEN=… node with-token.mjs URL    (prints its own address)
import http from "node:http";

const server = new URL(process.argv[2]);
const passing = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${process.env.TOKEN}` };
  // The client sees this address in the place of the server's.
  for (const name of ["host", "origin"]) {
    headers[name] &&= headers[name].replace(`:${passing.address().port}`, `:${server.port}`);
  }
  const { hostname, port } = server;
  const options = { hostname, port, path: request.url, method: request.method, headers };
  const passed = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  response.on("close", () => passed.destroy());
  request.pipe(passed);
});
passing.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${passing.address().port}${server.pathname}`);
});
