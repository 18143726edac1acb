import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
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
import { namesState } from './if-none-match.ts'
import type { Limits } from './limits.ts'
import { keepCredentials, sendOneCredential } from './reference-credentials.ts'
import { callerAddress } from './source.ts'

/** How a document is sent, by the name that `Accept-Encoding` has for it. */
type Form = 'identity' | 'gzip' | 'br'

/** One form of a document as it is sent, and its strong `ETag`. */
type Copy = { bytes: Buffer; etag: string }

/**
 * Serves the OpenAPI document at `/openapi.json`, and its reference page at `/docs`. `describe` is called for the first
 * request; every answer then sends the same bytes. Callers need no credential, so their requests are counted by address.
 */
export async function serveReference(server: FastifyInstance, describe: () => unknown, limits: Limits): Promise<void> {
  let copies: Promise<Record<Form, Copy>> | undefined
  async function sendDocument(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    copies ??= copiesOf(JSON.stringify(describe()))
    const form = formFor(request.headers['accept-encoding'])
    const { bytes, etag } = (await copies)[form]
    // Clients keep the document, and ask each time whether it is still the current one.
    reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' })
    if (namesState(request.headers['if-none-match'], etag)) return reply.code(304).send()
    if (form !== 'identity') reply.header('content-encoding', form)
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
      uiConfig: {
        // Without the library's top bar, which offers to load other documents.
        layout: 'BaseLayout',
        // To draw every operation takes the browser seconds: a group is drawn where it is opened, or where the address names an operation of it.
        ...{ docExpansion: 'none', deepLinking: true },
        ...{ plugins: [keepCredentials], requestInterceptor: sendOneCredential },
      },
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

async function copiesOf(text: string): Promise<Record<Form, Copy>> {
  const plain = Buffer.from(text)
  const hash = createHash('sha256').update(plain).digest('base64url')
  // The best quality of Brotli takes a second, for a tenth of the size less.
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length }
  const [gzipped, brotli] = await Promise.all([
    promisify(gzip)(plain, { level: 9 }),
    promisify(brotliCompress)(plain, { params: quality }),
  ])
  return {
    identity: { bytes: plain, etag: `"${hash}"` },
    gzip: { bytes: gzipped, etag: `"${hash}-gzip"` },
    br: { bytes: brotli, etag: `"${hash}-br"` },
  }
}

/** The form with the greatest weight in `Accept-Encoding`, of equal ones the smaller; as it is only where none is accepted. */
export function formFor(header = ''): Form {
  const weights = new Map(header.split(',').map(readCoding))
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0
  const [br, gzip] = [weightOf('br'), weightOf('gzip')]
  if (br === 0 && gzip === 0) return 'identity'
  return br >= gzip ? 'br' : 'gzip'
}

function readCoding(text: string): [name: string, weight: number] {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((one) => one.startsWith('q='))
  if (weight === undefined) return [name, 1]
  // What cannot be read is not accepted.
  const [, number = '0'] = /^q=([01]?(?:\.\d+)?)$/.exec(weight) ?? []
  return [name, Number(number)]
}
