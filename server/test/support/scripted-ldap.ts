import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

/** A request: its id, the first byte of its operation (RFC 4511), and everything in it, for a script to look for words. */
export type LdapRequest = { id: number; operation: number; text: string }

export const operations = { bind: 0x60, search: 0x63, extended: 0x77 } as const

/** An element of BER: its first byte, and what is in it. */
export function ber(type: number, ...content: readonly (Buffer | string)[]): Buffer {
  const inside = Buffer.concat(content.map((part) => Buffer.from(part)))
  const { length } = inside
  const head = length < 128 ? [type, length] : [type, 0x83, length >> 16, (length >> 8) & 255, length & 255]
  return Buffer.concat([Buffer.from(head), inside])
}

const text = (value: Buffer | string) => ber(0x04, value)
const integer = (value: number) => ber(0x02, Buffer.from([value >> 8, value & 255]))
export const message = (id: number, ...content: Buffer[]) => ber(0x30, integer(id), ...content)

const resultOf = (type: number) => (id: number, code: number, diagnostic: string, controls: Buffer[]) =>
  message(id, ber(type, ber(0x0a, Buffer.from([code])), text(''), text(diagnostic)), ...controls)

export function bindResult(id: number, code = 0, diagnostic = ''): Buffer {
  return resultOf(0x61)(id, code, diagnostic, [])
}

export function extendedResult(id: number, code = 0, diagnostic = ''): Buffer {
  return resultOf(0x78)(id, code, diagnostic, [])
}

/** The end of a search. `cookie`: of its next page, empty after the last; null: nothing is said of pages. */
export function searchDone(id: number, cookie: string | null = '', code = 0, diagnostic = ''): Buffer {
  const value = () => ber(0x30, integer(0), text(cookie ?? ''))
  const control = () => ber(0xa0, ber(0x30, text('1.2.840.113556.1.4.319'), text(value())))
  return resultOf(0x65)(id, code, diagnostic, cookie === null ? [] : [control()])
}

export type Values = Readonly<Record<string, readonly (Buffer | string)[]>>

export function entry(id: number, dn: string, attributes: Values): Buffer {
  const list = Object.entries(attributes).map(([name, values]) => ber(0x30, text(name), ber(0x31, ...values.map(text))))
  return message(id, ber(0x64, text(dn), ber(0x30, ...list)))
}

export function reference(id: number, url: string): Buffer {
  return message(id, ber(0x73, text(url)))
}

/** What a script answers. Without an answer, the connection ends. */
type Script = (request: LdapRequest) => readonly Buffer[]

export type ScriptedLdap = {
  port: number
  requests: LdapRequest[]
  /** How many connections are open. */
  connections(): number
  stop(): Promise<void>
}

/** An LDAP server that says what a test wants, for what a real one cannot be made to say. It accepts every sign-in. */
export async function openScriptedLdap(script: Script): Promise<ScriptedLdap> {
  const sockets = new Set<Socket>()
  const requests: LdapRequest[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    let rest = Buffer.alloc(0)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, Buffer.from(chunk)])
      for (;;) {
        const length = lengthOf(rest)
        if (length === undefined || rest.length < length) return
        const request = readRequest(rest.subarray(0, length))
        rest = rest.subarray(length)
        requests.push(request)
        const answers = script(request)
        if (answers.length === 0) socket.destroy()
        else socket.write(Buffer.concat([...answers]))
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    requests,
    connections: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Of requests as `ldapts` writes them: a sequence whose length has at most three bytes more, and a number of one to four bytes. */
function lengthOf(bytes: Buffer): number | undefined {
  const first = bytes[1]
  if (first === undefined) return undefined
  const more = first < 0x80 ? 0 : first - 0x80
  if (bytes.length < 2 + more) return undefined
  return 2 + more + (more === 0 ? first : bytes.readUIntBE(2, more))
}

function readRequest(bytes: Buffer): LdapRequest {
  const first = bytes[1] ?? 0
  const at = 2 + (first < 0x80 ? 0 : first - 0x80)
  const size = bytes[at + 1] ?? 1
  return {
    id: bytes.readUIntBE(at + 2, size),
    operation: bytes[at + 2 + size] ?? 0,
    text: bytes.toString('latin1'),
  }
}
