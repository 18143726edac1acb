import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

const files = [
  { url: '/console/setup', file: 'setup.html', type: 'text/html; charset=utf-8' },
  { url: '/console/setup.css', file: 'setup.css', type: 'text/css; charset=utf-8' },
  { url: '/console/setup.js', file: 'setup.js', type: 'text/javascript; charset=utf-8' },
]

/** The page runs its own files alone, and calls nothing but this service. */
const policy = [
  `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'`,
  `require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'`,
].join('; ')

/**
 * The page that a setup link opens. It is the same for every reader: the link's key stands behind `#`, which a browser does not send, and
 * the page's script uses it in calls of the API.
 */
export function serveSetupPage(server: FastifyInstance): void {
  for (const { url, file, type } of files) {
    const content = readFileSync(new URL(`./setup-page/${file}`, import.meta.url))
    server.get(url, async (_request, reply) => {
      reply.header('content-security-policy', policy).header('cache-control', 'no-cache')
      return reply.type(type).send(content)
    })
  }
}
