/** What a page may do: load what this server serves, and nothing of anybody else. Neither scripts nor styles inline. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every page; the server adds those that everything has. */
export function pageHeaders({ shared }: { shared: boolean }): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': pagePolicy,
    // What is shown to somebody must not come back by the browser's button once they are logged out.
    'cache-control': shared ? 'private, no-cache' : 'no-store',
  }
}
