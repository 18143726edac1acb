import { NotNow } from '../driver.ts'

/** How urgent it is, and how long there is time to wait. What takes access away goes before what gives it. */
export type Patience = {
  urgent: boolean
  /** On the clock of `performance.now()`; whoever would wait longer is told to come back. */
  until: number
  signal: AbortSignal
}

/** A line of waiting calls: the urgent ones first, each kind in the order in which it came. */
export type Line = {
  /** Ends when its turn has come. @throws NotNow where that is too far off; what the signal says */
  wait(name: string, patience: Patience): Promise<void>
  /** Something changed: whoever can go now goes. */
  look(): void
  isEmpty(): boolean
}

type Rule = {
  /** Takes what a turn of that name needs; 0 where it was there, else milliseconds until it is worth another look. */
  take(name: string): number
  /** About how many milliseconds it takes with so many before, and so many of the same name among them. */
  estimateMs(before: number, ofName: number, name: string): number
}

type Waiting = { name: string; patience: Patience; go(): void; stop(error: unknown): void }

const soonestMs = 250
const latestMs = 60_000

export function openLine({ take, estimateMs }: Rule): Line {
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined

  const placeOf = ({ urgent }: Patience) => {
    const first = waiting.findIndex((one) => urgent && !one.patience.urgent)
    return first === -1 ? waiting.length : first
  }
  const estimateAt = (place: number, name: string) => {
    const ofName = waiting.slice(0, place).filter((one) => one.name === name).length
    return estimateMs(place, ofName, name)
  }

  const look = () => {
    clearTimeout(timer)
    let nextMs = Number.POSITIVE_INFINITY
    const inVain = new Set<string>()
    const left: Waiting[] = []
    for (const one of waiting) {
      const { name, patience } = one
      const now = performance.now()
      if (patience.signal.aborted) one.stop(patience.signal.reason)
      else if (now >= patience.until) one.stop(new NotNow(comeBackMs(estimateMs(left.length, 0, name))))
      else {
        const ms = inVain.has(name) ? nextMs : take(name)
        if (ms <= 0) {
          one.go()
          continue
        }
        inVain.add(name)
        left.push(one)
        nextMs = Math.min(nextMs, ms, patience.until - now)
      }
    }
    waiting = left
    if (left.length > 0) timer = setTimeout(look, Math.max(1, Math.min(nextMs, latestMs)))
  }

  return {
    async wait(name, patience) {
      patience.signal.throwIfAborted()
      const place = placeOf(patience)
      const estimate = estimateAt(place, name)
      if (performance.now() + estimate > patience.until) throw new NotNow(comeBackMs(estimate))
      await new Promise<void>((go, stop) => {
        waiting.splice(place, 0, { name, patience, go, stop })
        look()
      })
    },
    look,
    isEmpty: () => waiting.length === 0,
  }
}

/** A little before its turn, so that the line never runs empty; spread, so that not all come at once. */
function comeBackMs(estimate: number): number {
  return Math.round(Math.min(latestMs, Math.max(soonestMs, estimate * (0.5 + Math.random() / 2))))
}
