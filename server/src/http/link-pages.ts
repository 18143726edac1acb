import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { notFound } from '../kernel/errors.ts'
import { type Html, html } from '../kernel/html.ts'
import { readUuid } from '../kernel/id.ts'
import { replyProblem } from './error-reply.ts'

type LinkPage = {
  what: string
  /** The operations on it: the end of the path, and what the operation does. */
  acts: readonly (readonly [path: string, does: string])[]
}

/** The pages that links in messages open, by the noun in the path. */
const pages: Readonly<Record<'requests' | 'grants', LinkPage>> = {
  requests: {
    what: 'Access request',
    acts: [
      ['approve', 'approves it'],
      ['deny', 'denies it'],
    ],
  },
  grants: {
    what: 'Grant',
    acts: [
      ['extend', 'asks for more time: {"duration_seconds": 3600}'],
      ['revoke', 'ends it'],
    ],
  },
}

/**
 * The pages that links in messages open. They are the same for every reader, read nothing and change nothing: a mail
 * program or a scanner that opens one decides nothing.
 */
export function serveLinkPages(server: FastifyInstance, publicUrl: string): void {
  for (const [noun, page] of Object.entries(pages)) {
    server.get<{ Params: { id: string } }>(`/${noun}/:id`, async (request, reply) => {
      const id = readUuid(request.params.id)
      if (id === undefined) return replyProblem(reply, notFound('path'))
      reply.header('content-security-policy', policy).header('cache-control', 'no-store')
      return reply
        .type('text/html; charset=utf-8')
        .send(pageOf(page, id, `${publicUrl}/v1/${noun}/${id}`, publicUrl).text)
    })
  }
}

const style = html`
:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif }
body { margin: 0; display: grid; min-height: 100vh; place-items: center }
main { box-sizing: border-box; width: 100%; max-width: 44rem; padding: 2rem 1.25rem }
header { border-left: 4px solid #1d4ed8; padding-left: 1rem; margin-bottom: 1.5rem }
h1 { margin: 0; font-size: 1.4rem; font-weight: 600 }
code, pre { font: .9em/1.6 ui-monospace, monospace; overflow-wrap: anywhere }
pre { padding: .9rem 1rem; border: 1px solid #8885; border-radius: 8px; white-space: pre-wrap }
li { margin: .25rem 0 }
footer { margin-top: 2rem; font-size: .875rem; opacity: .75 }
`
const styleHash = createHash('sha256').update(style.text).digest('base64')
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

function pageOf({ what, acts }: LinkPage, id: string, address: string, publicUrl: string): Html {
  const operations = acts.map(([path, does]) => html`<li><code>POST ${address}/${path}</code> ${does}.</li>\n`)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${what} ${id}</title>
<style>${style}</style>
</head>
<body>
<main>
<header>
<h1>${what}</h1>
<code>${id}</code>
</header>
<p>This is the address that Sallyport gives in its messages. Opening it decides nothing and changes nothing. The page does
not know who you are, or whether this record exists.</p>
<p>To read the record, use your API key and the id of your tenant:</p>
<pre>curl ${address} \\
  -H "X-API-Key: $SALLYPORT_API_KEY" \\
  -H "X-Tenant-ID: $SALLYPORT_TENANT_ID"</pre>
<p>With the same two headers, if you have the permission:</p>
<ul>
${operations}</ul>
<footer>The whole API: <a href="${`${publicUrl}/docs/`}">${publicUrl}/docs/</a></footer>
</main>
</body>
</html>
`
}
