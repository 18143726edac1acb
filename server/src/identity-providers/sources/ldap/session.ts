import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls'
import { BindRequest, ExtendedRequest, FilterParser, PagedResultsControl, SearchRequest } from 'ldapts'
import type { Egress } from '../../../kernel/context.ts'
import { TargetError } from '../../../provisioners/driver.ts'
import { asDirectoryError, type Place, Refused } from './directory-error.ts'
import { isLoopback, nameOfServer, type Settings } from './ldap-config.ts'
import type { Entry, Message } from './read-message.ts'
import { openWire, untilConnected, type Wire } from './wire.ts'

const connectWithinMs = 5_000
const tlsWithinMs = 10_000
const signInWithinMs = 15_000
const pageWithinMs = 60_000
const maxAddresses = 3
/** How long a reading may take, together with what is done with its pages. */
const maxReadingMs = 2 * 60 * 60 * 1_000
const maxAnswerBytes = 64 * 1024
/** The most that is read for one page, in bytes. */
const maxPageBytes = 64 * 1024 * 1024
const startTlsName = '1.3.6.1.4.1.1466.20037'

/** What is searched below a base. `field`: where the config has the base, for the messages. */
export type Query = { base: string; field: string; filter: string; attributes: readonly string[]; pageSize: number }

/** A page. `references`: other servers that have a part of what was searched. `cookie`: as of a message. */
export type Page = { entries: Entry[]; references: string[]; cookie: Buffer | undefined }

/** A signed-in connection. Every function fails once it is lost, and throws a TargetError. */
export type Session = {
  searchPage(query: Query, cookie: Buffer | undefined): Promise<Page>
  /** Some attributes of one entry; undefined if it is not there. */
  readEntry(dn: string, attributes: readonly string[]): Promise<Entry | undefined>
  close(): void
}

/**
 * Connects to an address that the egress guard has checked, and signs in. The password is sent only over TLS with a certificate for the
 * configured host, or to a loopback address.
 * @throws TargetError
 */
export async function openSession(settings: Settings, egress: Egress, signal: AbortSignal): Promise<Session> {
  const place = { server: nameOfServer(settings), password: settings.bindPassword }
  const stopped = new TargetError('transient', 'the reading was stopped')
  if (signal.aborted) throw stopped
  let wire: Wire | undefined
  const onAbort = () => wire?.close(stopped)
  signal.addEventListener('abort', onAbort, { once: true })
  const close = () => {
    signal.removeEventListener('abort', onAbort)
    wire?.close()
  }
  try {
    wire = await connectFirst(settings, await findAddresses(settings, egress), signal)
    if (signal.aborted) throw stopped
    if (settings.tls === 'start_tls') {
      const extended = new ExtendedRequest({ messageId: 0, oid: startTlsName })
      await askForResult(wire, extended, 'extended')
      await wire.startTls(tlsOptions(settings), tlsWithinMs)
    }
    const bind = new BindRequest({ messageId: 0, dn: settings.bindDn, password: settings.bindPassword })
    await askForResult(wire, bind, 'bind')
    return { ...sessionOn(wire, place), close }
  } catch (error) {
    close()
    throw asDirectoryError(error, place)
  }
}

async function findAddresses({ host, tls }: Settings, egress: Egress): Promise<string[]> {
  const found = await egress.resolve(host).catch((error: NodeJS.ErrnoException) => {
    throw error.code === undefined
      ? new TargetError('permanent', error.message)
      : new TargetError('transient', `\`${host}\` cannot be resolved: check \`host\``)
  })
  const addresses = found.map(({ address }) => address)
  if (tls === 'off' && !addresses.every(isLoopback)) {
    throw new TargetError('permanent', `\`${host}\` is no loopback address: take \`tls\` \`off\` out`)
  }
  return addresses.slice(0, maxAddresses)
}

/** A connection to the first address that answers. */
async function connectFirst(settings: Settings, addresses: readonly string[], signal: AbortSignal): Promise<Wire> {
  let last: unknown
  for (const host of addresses) {
    if (signal.aborted) break
    try {
      return openWire(await connect(settings, host))
    } catch (error) {
      last = error
    }
  }
  throw last ?? new Error('it did not answer in time')
}

async function connect(settings: Settings, host: string): Promise<Socket> {
  const { port, tls } = settings
  const isSecure = tls === 'at_once'
  const socket = isSecure ? connectTls({ ...tlsOptions(settings), host, port }) : connectTcp({ host, port })
  await untilConnected(socket, isSecure ? 'secureConnect' : 'connect', isSecure ? tlsWithinMs : connectWithinMs)
  return socket.setKeepAlive(true)
}

function tlsOptions({ host, ca }: Settings): ConnectionOptions {
  return {
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
    ...(isIP(host) === 0 && { servername: host }),
    // The configured name, not its resolved address.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  }
}

function sessionOn(wire: Wire, place: Place): Omit<Session, 'close'> {
  const began = performance.now()
  /** Searches, and returns what was found. `at`: the base, for the messages. */
  const search = async (request: SearchRequest, at: string): Promise<Page> => {
    const page: Page = { entries: [], references: [], cookie: undefined }
    const take = (message: Message) => {
      if (message.kind === 'entry') page.entries.push(message.entry)
      if (message.kind === 'reference') page.references.push(...message.urls)
      if (message.kind !== 'result') return false
      requireSuccess(message, 'search')
      page.cookie = message.cookie
      return true
    }
    if (performance.now() - began > maxReadingMs) {
      throw new TargetError('transient', `reading ${place.server} takes longer than ${maxReadingMs / 60_000} minutes`)
    }
    try {
      await wire.ask(request, { ms: pageWithinMs, bytes: maxPageBytes }, take)
      return page
    } catch (error) {
      throw asDirectoryError(error, { ...place, base: at })
    }
  }
  return {
    searchPage({ base, field, filter, attributes, pageSize }, cookie) {
      // Critical: a server that cannot do it must say so, and not send as many entries as it likes.
      const paged = new PagedResultsControl({ critical: true, value: { size: pageSize, ...(cookie && { cookie }) } })
      const request = searchRequest({ base, scope: 'sub', filter, attributes, controls: [paged] })
      return search(request, `\`${field}\` \`${base}\``)
    },
    async readEntry(dn, attributes) {
      const request = searchRequest({ base: dn, scope: 'base', filter: '(objectClass=*)', attributes, controls: [] })
      return (await search(request, `\`${dn}\``)).entries[0]
    },
  }
}

function searchRequest(what: {
  base: string
  scope: 'sub' | 'base'
  filter: string
  attributes: readonly string[]
  controls: PagedResultsControl[]
}): SearchRequest {
  return new SearchRequest({
    messageId: 0,
    baseDN: what.base,
    scope: what.scope,
    filter: FilterParser.parseString(what.filter),
    // Each once, as RFC 4511 wants it: two facts may be read from one attribute.
    attributes: [...new Set(what.attributes)],
    controls: what.controls,
    sizeLimit: 0,
    timeLimit: pageWithinMs / 1_000,
  })
}

async function askForResult(wire: Wire, request: BindRequest | ExtendedRequest, of: 'bind' | 'extended') {
  await wire.ask(request, { ms: signInWithinMs, bytes: maxAnswerBytes }, (message) => {
    requireSuccess(message, of)
    return true
  })
}

/** @throws Refused, or Error for another message */
function requireSuccess(message: Message, of: 'bind' | 'search' | 'extended'): void {
  if (message.kind !== 'result' || message.of !== of) throw new Error('it sent an answer that nothing asked for')
  if (message.result.code !== 0) throw new Refused(message.result)
}
