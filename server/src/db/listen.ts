import { randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import pg from 'pg'
import { backoffDelay } from '../kernel/backoff.ts'
import type { ConnectionTarget } from './client/connect.ts'
import { sql } from './sql.ts'
import type { UnrestrictedTx } from './transaction.ts'

/** The one connection of a process that receives notifications of the database (NOTIFY), and verifies continuously that it does. */
export type Listening = {
  /** Whether no notification older than two seconds can have been missed. */
  isFresh(): boolean
  stop(): void
}

export type ListenOptions = {
  target: ConnectionTarget
  channel: string
  /**
   * Sends the beats over connections other than the listening one, so that a beat takes the same path as a notification. A
   * connection that can send but not receive proves nothing: one through a pooler, or to a server that is no longer primary.
   */
  beats: UnrestrictedTx
  onNotice(payload: string): void
  /** It listens again: notifications in between were missed. */
  onConnect(): void
  /** Called once when the first beat arrives, and when the first beat after a loss arrives. */
  onFresh(): void
  /** Called once for a loss or a failed start; the connection is retried indefinitely. */
  onLoss(error: unknown): void
}

const beatEveryMs = 1_000
/** A half-open connection gives no sign: this long after the last good beat was sent, the connection counts as lost. */
const freshForMs = 2_000
/** Milliseconds. */
const backoff = { base: 100, max: 5_000 }

/** Listens until it is stopped. A lost connection is opened again. */
export function listen(options: ListenOptions): Listening {
  let provenAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let reported: 'fresh' | 'lost' | undefined
  let stopping = false
  let waiting: NodeJS.Timeout | undefined
  let closeListener = () => {}

  const onBeat = (sentAt: number) => {
    provenAt = sentAt
    failures = 0
    if (reported !== 'fresh') options.onFresh()
    reported = 'fresh'
  }
  const onEnd = (error: unknown) => {
    provenAt = Number.NEGATIVE_INFINITY
    if (stopping) return
    if (reported !== 'lost') options.onLoss(error)
    reported = 'lost'
    waiting = setTimeout(open, backoffDelay(backoff, failures))
    failures += 1
  }
  const open = () => {
    closeListener = openListener(options, onBeat, onEnd)
  }
  open()

  return {
    isFresh: () => performance.now() - provenAt < freshForMs,
    stop() {
      stopping = true
      clearTimeout(waiting)
      closeListener()
    },
  }
}

/** One connection, until it ends: `onEnd` is called once with the cause. Returns a function that ends it. */
function openListener(
  { target, channel, beats, onNotice, onConnect }: ListenOptions,
  onBeat: (sentAt: number) => void,
  onEnd: (error: unknown) => void,
): () => void {
  const beatChannel = `sallyport_beat_${randomBytes(8).toString('hex')}`
  // A socket of our own, so that a half-open connection is dropped without waiting for a close handshake.
  const socket = new Socket()
  const client = new pg.Client({
    ...target,
    stream: () => socket,
    connectionTimeoutMillis: freshForMs,
    query_timeout: freshForMs,
    application_name: 'sallyport-listen',
  })
  let timer: NodeJS.Timeout | undefined
  let beat = { text: '', sentAt: 0 }
  let ended = false

  const end = (error: unknown) => {
    if (ended) return
    ended = true
    clearTimeout(timer)
    socket.destroy()
    onEnd(error)
  }
  const sendBeat = () => {
    beat = { text: randomBytes(8).toString('hex'), sentAt: performance.now() }
    timer = setTimeout(() => end(new Error('notifications of the database do not arrive')), freshForMs)
    beats.write([sql`select pg_notify(${beatChannel}, ${beat.text})`]).catch(end)
  }
  const onMessage = ({ channel: on, payload = '' }: pg.Notification) => {
    if (ended) return
    if (on === channel) return onNotice(payload)
    if (payload !== beat.text) return
    clearTimeout(timer)
    timer = setTimeout(sendBeat, beatEveryMs)
    onBeat(beat.sentAt)
  }
  const begin = async () => {
    await client.connect()
    // A timeout for idle sessions would end this one, which is always idle.
    await client.query(`set idle_session_timeout = 0; listen ${channel}; listen ${beatChannel}`)
    if (ended) return
    onConnect()
    sendBeat()
  }

  client.on('notification', onMessage)
  client.on('error', end)
  client.on('end', () => end(new Error('the listening connection ended')))
  begin().catch(end)
  return () => end(undefined)
}
