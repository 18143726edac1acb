import { translateDatabaseError } from '../constraints.ts'
import type { Link } from './link.ts'

/** `long`: a transaction between whose statements somebody thinks, or a statement that may be slow. `short`: one batch. */
export type Stay = 'short' | 'long'

export type PoolOptions = {
  /** How many connections there are at most. */
  most: number
  /** How many of them long stays may hold at once, so that they cannot hold up the short ones. */
  mostLong: number
  open(onLost: (link: Link) => void): Promise<Link>
}

type Waiter = {
  stay: Stay
  timer: NodeJS.Timeout
  since: number
  resolve(link: Link): void
  reject(error: Error): void
}

/** The longest that a caller waits for a connection. */
const longestWaitMs = 5_000

/** There is no connection to be had; the code is the one of a server that takes no more of them. */
export class NoConnection extends Error {
  readonly code = '53300'
}

/** Connections that one caller holds at a time, opened as they are needed. Whoever finds none free waits in turn. */
export class Pool {
  /** Every connection that is open, held or not. */
  readonly links = new Set<Link>()
  /** How many callers ever had to wait, and for how long altogether. */
  readonly waits = { count: 0, ms: 0 }
  readonly #options: PoolOptions
  readonly #idle: Link[] = []
  readonly #waiting: Waiter[] = []
  #opening = 0
  #held = 0
  #heldLong = 0
  #isClosed = false
  #onEmpty: (() => void) | undefined

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get held(): number {
    return this.#held
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Lends a connection for as long as the work takes. @throws when none became free within 5 s, or none could be opened. */
  async use<Result>(stay: Stay, work: (link: Link) => Promise<Result>): Promise<Result> {
    const link = await this.#acquire(stay).catch(translateDatabaseError)
    try {
      return await work(link)
    } finally {
      this.#release(stay, link)
    }
  }

  /** Gives up the connections that owe an answer for too long, ends those that nobody has used for long. */
  tick(mostOwing: number, mostIdle: number): void {
    for (const link of this.links) {
      if (link.tick(mostOwing) <= mostIdle || !this.#takeIdle(link)) continue
      void link.end()
    }
  }

  /** Waits until every connection is given back, then ends them all. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#held + this.#opening > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve
      })
    }
    await Promise.all([...this.links].map((link) => link.end()))
  }

  #acquire(stay: Stay): Promise<Link> {
    if (this.#isClosed) return Promise.reject(new NoConnection('the connections to the database are closed'))
    const link = this.#mayHold(stay) ? this.#idle.pop() : undefined
    if (link !== undefined) {
      this.#lend(stay)
      return Promise.resolve(link)
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#refuse(waiter, new NoConnection('timeout exceeded: no connection to the database became free'))
      }, longestWaitMs)
      const waiter: Waiter = { stay, timer, since: performance.now(), resolve, reject }
      this.#waiting.push(waiter)
      this.#serve()
    })
  }

  #release(stay: Stay, link: Link): void {
    this.#held--
    if (stay === 'long') this.#heldLong--
    // INVARIANT: what somebody left open is never handed on.
    if (link.transaction !== 'none' || link.waiting > 0) link.destroy('it was given back in the middle of something')
    if (!link.isLost) this.#idle.push(link)
    this.#serve()
  }

  /** Hands what is free to those who wait, in turn, and opens what they lack. */
  #serve(): void {
    for (const waiter of [...this.#waiting]) {
      if (!this.#mayHold(waiter.stay)) continue
      const link = this.#idle.pop()
      if (link === undefined) break
      this.#leave(waiter)
      this.#lend(waiter.stay)
      waiter.resolve(link)
    }
    const lacking = this.#waiting.filter(({ stay }) => this.#mayHold(stay)).length
    while (this.#opening < lacking && this.links.size + this.#opening < this.#options.most) this.#open()
    if (this.#isClosed && this.#held + this.#opening === 0) this.#onEmpty?.()
  }

  #open(): void {
    this.#opening++
    this.#options
      .open((lost) => this.#forget(lost))
      .then(
        (link) => {
          this.#opening--
          // INVARIANT: no lost connection is counted. It may be lost again before anybody heard that it is there.
          if (!link.isLost) {
            this.links.add(link)
            this.#idle.push(link)
          }
          this.#serve()
        },
        (error: Error) => {
          this.#opening--
          // Where there are others, one of them will become free.
          if (this.links.size === 0) for (const waiter of [...this.#waiting]) this.#refuse(waiter, error)
          if (this.#isClosed) this.#serve()
        },
      )
  }

  #forget(link: Link): void {
    this.links.delete(link)
    this.#takeIdle(link)
    this.#serve()
  }

  /** Whether it was idle; from now on it is not. */
  #takeIdle(link: Link): boolean {
    const index = this.#idle.indexOf(link)
    if (index >= 0) this.#idle.splice(index, 1)
    return index >= 0
  }

  #mayHold(stay: Stay): boolean {
    return stay === 'short' || this.#heldLong < this.#options.mostLong
  }

  #lend(stay: Stay): void {
    this.#held++
    if (stay === 'long') this.#heldLong++
  }

  #refuse(waiter: Waiter, error: Error): void {
    this.#leave(waiter)
    waiter.reject(error)
  }

  #leave(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
    this.waits.count++
    this.waits.ms += performance.now() - waiter.since
  }
}
