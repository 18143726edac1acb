import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  preHandlerAsyncHookHandler,
} from 'fastify'
import { notFound } from '../kernel/errors.ts'
import type { Limits } from './limits.ts'
import { callerAddress } from './source.ts'

/** One form of a document as it is sent, and its strong `ETag`. */
type Copy = { bytes: Buffer; etag: string }

/**
 * Serves the OpenAPI document at `/openapi.json`, and its reference page at `/docs`. `describe` is called for the first
 * request; every answer then sends the same bytes. Callers need no credential, so their requests are counted by address.
 */
export async function serveReference(server: FastifyInstance, describe: () => unknown, limits: Limits): Promise<void> {
  let copies: Promise<Record<'plain' | 'gzip', Copy>> | undefined
  async function sendDocument(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    copies ??= copiesOf(JSON.stringify(describe()))
    const isCompressed = acceptsGzip(request.headers['accept-encoding'])
    const { bytes, etag } = (await copies)[isCompressed ? 'gzip' : 'plain']
    // Clients keep the document, and ask each time whether it is still the current one.
    reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' })
    if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
    if (isCompressed) reply.header('content-encoding', 'gzip')
    return reply.type('application/json; charset=utf-8').send(bytes)
  }

  const plugin: FastifyPluginAsync = async (reference) => {
    reference.addHook('onRequest', async (request) => limits.meet('reference', callerAddress(request)))
    reference.get('/openapi.json', sendDocument)
    // The page's library requires its companion, which would serialize the document again for each request.
    await reference.register(swagger, { mode: 'static', specification: { document: emptyDocument } })
    await reference.register(swaggerUi, {
      routePrefix: '/docs',
      theme: { title: 'Sallyport' },
      // Without the library's top bar, which offers to load other documents.
      uiConfig: { layout: 'BaseLayout' },
      staticCSP: true,
      // On plain http under a custom host name, the page would otherwise request its files over https without success.
      transformStaticCSP: (header) => without(header, 'upgrade-insecure-requests'),
      uiHooks: { preHandler: sendOwn },
    })
  }
  /** Sends the document where the page's library would. */
  const sendOwn: preHandlerAsyncHookHandler = async (request, reply) => {
    const { url } = request.routeOptions
    if (url === '/docs/yaml') throw notFound('path')
    return url === '/docs/json' ? sendDocument(request, reply) : undefined
  }
  await server.register(plugin)
}

/** A content security policy without one of its directives. */
function without(policy: string, directive: string): string {
  return policy
    .split(';')
    .filter((part) => part.trim() !== directive)
    .join(';')
}

const emptyDocument = { openapi: '3.1.0', info: { title: '', version: '' }, paths: {} } as const

const compress = promisify(gzip)

async function copiesOf(text: string): Promise<Record<'plain' | 'gzip', Copy>> {
  const plain = Buffer.from(text)
  const hash = createHash('sha256').update(plain).digest('base64url')
  return {
    plain: { bytes: plain, etag: `"${hash}"` },
    gzip: { bytes: await compress(plain, { level: 9 }), etag: `"${hash}-gzip"` },
  }
}

/** Whether `Accept-Encoding` lists gzip and does not refuse it with a weight of 0. */
export function acceptsGzip(header = ''): boolean {
  return header.split(',').some((coding) => {
    const [name = '', weight = ''] = coding.split(';').map((part) => part.trim().toLowerCase())
    return (name === 'gzip' || name === '*') && !/^q=0(\.0*)?$/.test(weight)
  })
}

/** Whether `If-None-Match` names the state; the comparison ignores that an intermediary made the tag weak. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const listed = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return listed.includes('*') || listed.includes(etag)
}
