import type { FastifyRequest } from 'fastify'
import { Problem } from '../kernel/errors.ts'
import { cookiesOf } from './cookie.ts'

/** The cookie of a browser's session, and the rules for requests that use it. */
export type SessionCookie = {
  name: string
  /** The maximum lifetime of a session in a browser here, in seconds; undefined: the tenant's settings alone say it. */
  maxSeconds: number | undefined
  /** Why no browser can have a session here, as a sentence for the operator; undefined if it can. */
  fault: string | undefined
  /** The value in a request; undefined where there is none, or more than one: another program may have planted one of them. */
  read(request: Pick<FastifyRequest, 'headers'>): string | undefined
  /** @throws Problem 421 for a request that reached the service by another name than its own */
  requireHost(request: Pick<FastifyRequest, 'host'>): void
  /** For a change. @throws Problem 403 for a request that another site may have had the browser send */
  requireOwnOrigin(request: Pick<FastifyRequest, 'headers'>): void
  /** For a read. @throws Problem 403 for a request that the page of another host had the browser send, and no link that a user follows */
  requireOwnReader(request: Pick<FastifyRequest, 'headers'>): void
  /** The header `Set-Cookie` that sets it for so many seconds. */
  set(value: string, seconds: number): string
  /** The header `Set-Cookie` that removes it. */
  clear(): string
}

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']
/** Other programs on this machine get the cookie too: cookies are not separated by port. */
const maxLoopbackSeconds = 3_600

/**
 * Over https the prefix `__Host-` makes sure that only this host set the cookie. On loopback there is no prefix, and the name has the
 * port. Plain http to any other host would show the cookie to the network, so there it is never used.
 */
export function sessionCookie(publicUrl: string): SessionCookie {
  const { protocol, hostname, host, port, origin } = new URL(publicUrl)
  const secure = protocol === 'https:'
  const isLoopback = !secure && isLoopbackName(hostname)
  const name = secure ? '__Host-sallyport' : `sallyport-${port || '80'}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const fault =
    secure || isLoopback ? undefined : `browsers cannot sign in at ${publicUrl}: it is neither https nor loopback`
  const ownHosts = new Set([
    host,
    ...(isLoopback ? loopbackNames.map((own) => hostOf(protocol, `${own}:${port}`)) : []),
  ])

  return {
    name,
    maxSeconds: isLoopback ? maxLoopbackSeconds : undefined,
    fault,
    read({ headers }) {
      const [value, another] = cookiesOf(headers.cookie, name)
      return another === undefined ? value : undefined
    },
    requireHost(request) {
      if (fault !== undefined) throw new Problem('misdirected_request', `${fault}; send a token or an API key instead`)
      if (ownHosts.has(hostOf(protocol, request.host))) return
      throw new Problem('misdirected_request', `this is not the address of the service; open ${publicUrl} instead`)
    },
    requireOwnOrigin({ headers }) {
      if (headers['sec-fetch-site'] === 'same-origin' || headers.origin === origin) return
      const means = `send it from a page of ${origin}, or with the header \`Origin: ${origin}\``
      throw new Problem('forbidden', `this request may come from another site, so the session does not count; ${means}`)
    },
    requireOwnReader({ headers }) {
      const site = headers['sec-fetch-site']
      const isOwn = site === undefined || site === 'same-origin' || site === 'none'
      if (isOwn || headers['sec-fetch-mode'] === 'navigate') return
      throw new Problem(
        'forbidden',
        `this request comes from another site, so the session does not count; open ${origin}`,
      )
    },
    set: (value, seconds) => `${name}=${value}; Max-Age=${seconds}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  }
}

function isLoopbackName(hostname: string): boolean {
  return loopbackNames.includes(hostname) || hostname.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** The host and port in the form in which `URL` writes it: lower case, without the usual port. Empty for a text that is no host. */
function hostOf(protocol: string, host: string | undefined): string {
  return /^[\w.:[\]-]+$/.test(host ?? '') ? (URL.parse(`${protocol}//${host}`)?.host ?? '') : ''
}
