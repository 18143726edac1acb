import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleState } from '../kernel/console-state.ts'
import { notFound } from '../kernel/errors.ts'
import { type Html, html } from '../kernel/html.ts'
import { type BuiltFile, type ConsoleBuild, formFor, readConsoleBuild } from './console-build.ts'
import { namesState } from './if-none-match.ts'
import { stopCounting } from './in-flight.ts'
import { pagePolicy } from './page-policy.ts'

const yearSeconds = 365 * 24 * 60 * 60
/** How soon a browser loads the page again that says the console is being built. */
const retrySeconds = 2

/**
 * Serves the console below `/console/`: the files of its build, and its one page for every other path, whose script reads the path. `find`:
 * where the build is, asked for each request.
 */
export async function serveConsole(
  server: FastifyInstance,
  find: () => ConsoleState = () => ({ missing: 'this process serves none' }),
): Promise<void> {
  const openBuild = keepingOpen()
  async function answer(request: FastifyRequest<{ Params: { '*'?: string } }>, reply: FastifyReply) {
    const state = find()
    if (state === 'building') return sayBuilding(reply)
    const build = 'folder' in state ? await openBuild(state.folder) : undefined
    if (build === undefined) return sayMissing(reply, 'missing' in state ? state.missing : removed)
    const path = request.params['*'] ?? ''
    const file = build.files.get(path)
    // A page in its place would be read as a script. Another process may have the file soon.
    if (file === undefined && path.startsWith('assets/')) {
      reply.header('cache-control', 'no-store')
      throw notFound('path')
    }
    // However slowly a browser takes the answer, nobody waits for it.
    stopCounting(server, reply)
    if (file !== undefined) return sendFile(request, reply, path, file)
    return sendPage(request, reply, build)
  }

  const pages: FastifyPluginAsync = async (site) => {
    site.addHook('onRequest', async (_request, reply) => {
      reply.header('content-security-policy', pagePolicy)
    })
    site.get('/console', async (_request, reply) => reply.redirect('/console/'))
    site.get('/console/', answer)
    site.get('/console/*', answer)
  }
  await server.register(pages)
  server.get('/', async (_request, reply) => {
    const state = find()
    const isMissing = state !== 'building' && 'missing' in state
    return reply.redirect(isMissing ? '/docs/' : '/console/')
  })
}

/** Opens a build at its first request, and keeps what it read; undefined when the build is gone. */
function keepingOpen() {
  let opened: { folder: string; build: Promise<ConsoleBuild> } | undefined
  return async (folder: string): Promise<ConsoleBuild | undefined> => {
    if (opened?.folder !== folder) opened = { folder, build: readConsoleBuild(folder) }
    const { build } = opened
    return build.catch(() => {
      opened = undefined
      return undefined
    })
  }
}

/** From memory, with a tag made of its bytes: a time of the file may be the same in every image. */
function sendPage(request: FastifyRequest, reply: FastifyReply, { page, etag }: ConsoleBuild): FastifyReply {
  reply.headers({ etag, 'cache-control': 'no-cache' })
  if (namesState(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.type('text/html; charset=utf-8').send(page)
}

/** The name of an asset changes with its content. Other files keep their names, and are small. */
function sendFile(request: FastifyRequest, reply: FastifyReply, path: string, file: BuiltFile): FastifyReply {
  const { coding, content } = formFor(file, request.headers['accept-encoding'])
  const isAsset = path.startsWith('assets/')
  reply.headers({
    'cache-control': isAsset ? `public, max-age=${yearSeconds}, immutable` : 'no-cache',
    vary: 'accept-encoding',
    ...(coding !== undefined && { 'content-encoding': coding }),
  })
  return reply.type(file.type).send(content)
}

const removed = 'its files were removed while the service ran; restart the service'

function sayBuilding(reply: FastifyReply): FastifyReply {
  reply.header('retry-after', String(retrySeconds))
  const title = 'The console is being built'
  const text = html`<p>This happens once for each version of Sallyport, and takes some seconds. This page loads again by itself.</p>`
  return sayUnavailable(reply, title, text, html`<meta http-equiv="refresh" content="${String(retrySeconds)}">\n`)
}

function sayMissing(reply: FastifyReply, why: string): FastifyReply {
  const text = html`<p>This service has no console: ${why}.</p>
<p>The API works without it: <a href="/docs/">its reference</a>.</p>`
  return sayUnavailable(reply, 'There is no console', text, html``)
}

function sayUnavailable(reply: FastifyReply, title: string, text: Html, head: Html): FastifyReply {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
${head}<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console/page.css">
</head>
<body>
<main>
<p class="product">Sallyport</p>
<h1>${title}</h1>
${text}
</main>
</body>
</html>
`
  return reply.code(503).header('cache-control', 'no-store').type('text/html; charset=utf-8').send(page.text)
}
