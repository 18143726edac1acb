import { NotNow } from '../driver.ts'

/** How urgent it is, and how long there is time to wait. What takes access away goes before what gives it. */
export type QueueLimits = {
  urgent: boolean
  /** On the clock of `performance.now()`; whoever would wait longer is told to come back. */
  until: number
  signal: AbortSignal
}

/** A line of waiting calls: the urgent ones first, each kind in the order in which it came. */
export type PriorityQueue = {
  /** Ends when its turn has come. @throws NotNow where that is too far off; what the signal says */
  wait(name: string, limits: QueueLimits): Promise<void>
  /** Something changed: whoever can go now goes. */
  advance(): void
  isEmpty(): boolean
}

type Rule = {
  /** Takes what a turn of that name needs; 0 where it was there, else milliseconds until it is worth another look. */
  take(name: string): number
  /** About how many milliseconds it takes with so many before, and so many of the same name among them. */
  estimateMs(before: number, ofName: number, name: string): number
}

type Waiting = { name: string; limits: QueueLimits; go(): void; stop(error: unknown): void }

const soonestMs = 250
const latestMs = 60_000

export function openPriorityQueue({ take, estimateMs }: Rule): PriorityQueue {
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined

  const placeOf = ({ urgent }: QueueLimits) => {
    const first = waiting.findIndex((one) => urgent && !one.limits.urgent)
    return first === -1 ? waiting.length : first
  }
  const estimateAt = (place: number, name: string) => {
    const ofName = waiting.slice(0, place).filter((one) => one.name === name).length
    return estimateMs(place, ofName, name)
  }

  const advance = () => {
    clearTimeout(timer)
    let nextMs = Number.POSITIVE_INFINITY
    const inVain = new Set<string>()
    const left: Waiting[] = []
    for (const one of waiting) {
      const { name, limits } = one
      const now = performance.now()
      if (limits.signal.aborted) one.stop(limits.signal.reason)
      else if (now >= limits.until) one.stop(new NotNow(comeBackMs(estimateMs(left.length, 0, name))))
      else {
        const ms = inVain.has(name) ? nextMs : take(name)
        if (ms <= 0) {
          one.go()
          continue
        }
        inVain.add(name)
        left.push(one)
        nextMs = Math.min(nextMs, ms, limits.until - now)
      }
    }
    waiting = left
    if (left.length > 0) timer = setTimeout(advance, Math.max(1, Math.min(nextMs, latestMs)))
  }

  return {
    async wait(name, limits) {
      limits.signal.throwIfAborted()
      const place = placeOf(limits)
      const estimate = estimateAt(place, name)
      if (performance.now() + estimate > limits.until) throw new NotNow(comeBackMs(estimate))
      await new Promise<void>((go, stop) => {
        waiting.splice(place, 0, { name, limits, go, stop })
        advance()
      })
    },
    advance,
    isEmpty: () => waiting.length === 0,
  }
}

/** A little before its turn, so that the line never runs empty; spread, so that not all come at once. */
function comeBackMs(estimate: number): number {
  return Math.round(Math.min(latestMs, Math.max(soonestMs, estimate * (0.5 + Math.random() / 2))))
}
