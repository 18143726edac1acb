import type { AddressInfo, Socket } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import type { Certificate } from './certificates.ts'

/** The step of a conversation: `data` before the text is read, `end` when it was read and awaits its answer. */
export type MailStep = 'connect' | 'login' | 'mail' | 'rcpt' | 'data' | 'end'

/**
 * `drip`: an answer that never ends. `swallow`, at the end: it accepts the mail and never answers. A text begins with the code
 * of the answer, as in `451 come again`.
 */
type Behaviour = 'go on' | 'close' | 'hang' | 'drip' | 'swallow' | `${4 | 5}${string}`

/** One mail as the server accepted it. */
export type TakenMail = { from: string; to: string; raw: string; secure: boolean; user: string | null }

type PeerOptions = {
  /** How TLS is offered; `stripped`: as if an attacker had removed the offer on the way. */
  tls?: 'none' | 'starttls' | 'stripped' | 'implicit'
  certificate?: Certificate
  /** The login that it requires; left out: none. */
  login?: { user: string; password: string }
  port?: number
}

/** The part of a peer that tests read and change. */
function newPeer() {
  return {
    /** Its behaviour at each step; may be replaced at any time. */
    behave: ((_step, _who) => 'go on') as (
      step: MailStep,
      who: { from: string; to: string },
    ) => Behaviour | Promise<Behaviour>,
    taken: [] as TakenMail[],
    /** The steps that it saw, in order. */
    steps: [] as MailStep[],
    connections: 0,
    port: 0,
    url: '',
  }
}

/** A mail server on this machine that behaves as the test says, and records what it was sent. */
export async function startMailPeer({ tls = 'none', certificate, login, port = 0 }: PeerOptions = {}) {
  const peer = newPeer()
  const server: SMTPServer = new SMTPServer({
    ...certificate,
    secure: tls === 'implicit',
    disabledCommands: tls === 'starttls' ? [] : ['STARTTLS'],
    authOptional: login === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    logger: false,
    closeTimeout: 100,
    ...actingOut(peer, login, (id) => [...server.connections].find((connection) => connection.id === id)?._socket),
  })
  // Many tests disconnect in the middle of a command.
  server.on('error', () => undefined)
  await new Promise<void>((done) => {
    server.listen(port, '127.0.0.1', done)
  })
  peer.port = (server.server.address() as AddressInfo).port
  peer.url = `${tls === 'implicit' ? 'smtps' : 'smtp'}://127.0.0.1:${peer.port}`
  /** Closes every connection that is open. */
  const hangUp = () => {
    for (const connection of server.connections) connection._socket.destroy()
  }
  const stop = () => {
    hangUp()
    return new Promise<void>((done) => server.close(done))
  }
  return Object.assign(peer, { hangUp, stop })
}

/** Not a fault: marks a mail that the server accepts without answering. */
const swallowed = new Error('accepted without an answer')

type Next = (error?: Error | null) => void

/** The server's callbacks, answered as the test says. */
function actingOut(
  peer: ReturnType<typeof newPeer>,
  login: PeerOptions['login'],
  socketOf: (id: string) => Socket | undefined,
): SMTPServerOptions {
  const act = (step: MailStep, session: SMTPServerSession, to: string, next: Next) => {
    peer.steps.push(step)
    const decide = async () => {
      const behaviour = await peer.behave(step, { from: senderOf(session), to })
      const socket = socketOf(session.id)
      if (behaviour === 'go on') next()
      else if (behaviour === 'close') socket?.destroy()
      else if (behaviour === 'drip') drip(socket)
      else if (behaviour === 'swallow') next(swallowed)
      else if (behaviour !== 'hang') next(answerOf(behaviour))
    }
    decide().catch(next)
  }
  return {
    onConnect(session, next) {
      peer.connections += 1
      act('connect', session, '', next)
    },
    onAuth({ username, password }, session, next) {
      const fits = login === undefined || (username === login.user && password === login.password)
      const known = () => (fits ? next(null, { user: username }) : next(answerOf('535 wrong user or password')))
      act('login', session, '', (error) => (error ? next(error) : known()))
    },
    onMailFrom: (_address, session, next) => act('mail', session, '', next),
    onRcptTo: ({ address }, session, next) => act('rcpt', session, address, next),
    onData(stream, session, next) {
      const to = session.envelope.rcptTo.map(({ address }) => address).join(', ')
      const read = async () => {
        let raw = ''
        for await (const chunk of stream.setEncoding('utf8')) raw += chunk
        act('end', session, to, (error) => {
          if (error && error !== swallowed) return next(error)
          peer.taken.push({ from: senderOf(session), to, raw, secure: session.secure, user: session.user ?? null })
          if (error !== swallowed) next(null, 'taken')
        })
      }
      act('data', session, to, (error) => (error ? next(error) : void read().catch(() => undefined)))
    },
  }
}

export type MailPeer = Awaited<ReturnType<typeof startMailPeer>>

/** A mail, parsed as a mail program does. */
export const readMail = ({ raw }: TakenMail): Promise<Email> => PostalMime.parse(raw)

function senderOf(session: SMTPServerSession): string {
  const { mailFrom } = session.envelope
  return mailFrom ? mailFrom.address : ''
}

function answerOf(text: string): Error {
  return Object.assign(new Error(text.slice(4)), { responseCode: Number(text.slice(0, 3)) })
}

/** Sends the beginning of an answer again and again: the connection is never idle and the answer never ends. */
function drip(socket: Socket | undefined): void {
  const timer = setInterval(() => socket?.write('250-one moment\r\n'), 20)
  socket?.once('close', () => clearInterval(timer))
}
