import { NotNow, TargetError } from '../driver.ts'
import type { Ask, Facts, ServerLink } from './server-link.ts'

/** A connection that is lent. */
export type Lent = { ask: Ask; facts: Facts }

/** What is under way to one server: few connections, kept for a while, handed to whoever comes. */
export type Connections = {
  /**
   * Lends a connection for as long as the work takes; where the work fails, the connection goes with it, and whatever it had
   * begun. `ahead`: before those who wait and are not.
   * @throws NotNow where none became free in time
   */
  use<Result>(wish: { signal: AbortSignal; ahead: boolean }, work: (lent: Lent) => Promise<Result>): Promise<Result>
  /** Ends those that nobody uses; the others as they are given back. */
  close(): void
}

const most = 4
const idleForMs = 20_000
const longestWaitMs = 5_000
const comeBackMs = 500

type Waiter = { ahead: boolean; begin(): void; refuse(error: Error): void }
type Idle = { link: ServerLink; timer: NodeJS.Timeout }

/** `open` makes a connection, which lives under the signal of whoever asked first for it. */
export function openConnections(open: (signal: AbortSignal) => Promise<ServerLink>): Connections {
  const idle: Idle[] = []
  const waiting: Waiter[] = []
  let taken = 0
  let isClosed = false

  const turn = async (signal: AbortSignal, ahead: boolean): Promise<void> => {
    if (isClosed) throw new TargetError('transient', 'the provisioner was changed meanwhile')
    if (taken < most) {
      taken++
      return
    }
    await waitIn(waiting, ahead, signal)
  }

  const giveBack = (link: ServerLink | undefined) => {
    if (link !== undefined && !link.isLost()) {
      if (isClosed) link.end()
      else keep(idle, link)
    }
    const next = waiting.shift()
    if (next === undefined) taken--
    else next.begin()
  }

  return {
    async use({ signal, ahead }, work) {
      await turn(signal, ahead)
      let link: ServerLink | undefined
      try {
        link = takeIdle(idle) ?? (await open(signal))
        return await work({ ask: link.asking(signal), facts: link.facts })
      } catch (error) {
        link?.destroy()
        throw error
      } finally {
        giveBack(link)
      }
    },
    close() {
      isClosed = true
      for (const { link, timer } of idle.splice(0)) {
        clearTimeout(timer)
        link.end()
      }
    },
  }
}

/** Takes a place among those who wait: at the end, or behind the last who goes ahead. */
async function waitIn(waiting: Waiter[], ahead: boolean, signal: AbortSignal): Promise<void> {
  const { promise, resolve: begin, reject: refuse } = Promise.withResolvers<void>()
  const waiter: Waiter = { ahead, begin, refuse }
  const place = ahead ? waiting.findIndex((other) => !other.ahead) : -1
  waiting.splice(place === -1 ? waiting.length : place, 0, waiter)
  const leave = () => {
    const at = waiting.indexOf(waiter)
    if (at === -1) return
    waiting.splice(at, 1)
    refuse(new NotNow(comeBackMs))
  }
  const timer = setTimeout(leave, longestWaitMs)
  signal.addEventListener('abort', leave, { once: true })
  try {
    await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
  }
}

function takeIdle(idle: Idle[]): ServerLink | undefined {
  for (;;) {
    const last = idle.pop()
    if (last === undefined) return undefined
    clearTimeout(last.timer)
    if (!last.link.isLost()) return last.link
  }
}

function keep(idle: Idle[], link: ServerLink): void {
  const timer = setTimeout(() => {
    const at = idle.findIndex((one) => one.link === link)
    if (at !== -1) idle.splice(at, 1)
    link.end()
  }, idleForMs)
  idle.push({ link, timer: timer.unref() })
}
