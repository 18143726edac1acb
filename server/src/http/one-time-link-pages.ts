import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { pagePolicy } from './page-policy.ts'

const types = { html: 'text/html; charset=utf-8', css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' }
const files = [
  { url: '/console/setup', file: 'setup.html', type: types.html },
  { url: '/console/setup.js', file: 'setup.js', type: types.js },
  { url: '/console/invitation', file: 'invitation.html', type: types.html },
  { url: '/console/invitation.js', file: 'invitation.js', type: types.js },
  { url: '/console/page.css', file: 'page.css', type: types.css },
  { url: '/console/page.js', file: 'page.js', type: types.js },
]

/**
 * The pages that a setup link and an invitation open. They are the same for every reader: the link's key stands behind `#`, which a browser
 * does not send, and the page's script uses it in calls of the API.
 */
export function serveOneTimeLinkPages(server: FastifyInstance): void {
  for (const { url, file, type } of files) {
    const content = readFileSync(new URL(`./one-time-link-pages/${file}`, import.meta.url))
    server.get(url, async (_request, reply) => {
      reply.header('content-security-policy', pagePolicy).header('cache-control', 'no-cache')
      return reply.type(type).send(content)
    })
  }
}
