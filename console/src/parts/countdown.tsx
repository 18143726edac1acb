import { type ReactNode, useEffect, useRef } from 'react'
import { now } from '../time/clock.ts'
import { announcedMinutes, remaining } from '../time/remaining.ts'
import { useTick } from '../time/ticks.ts'
import { useWords } from '../words/words.ts'
import { announce } from './announcer.tsx'

/** The time until a moment, as text. It is read out at 15, 5 and 1 minutes. */
export function Countdown({ until, of }: { until: string; of: string }): ReactNode {
  const words = useWords()
  const end = Date.parse(until) / 1_000
  const text = useTick((seconds) => words.time.left(remaining(end - seconds)))
  const passed = useTick((seconds) => announcedMinutes.filter((minutes) => end - seconds <= minutes * 60).length)
  const before = useRef(passed)
  useEffect(() => {
    const minutes = announcedMinutes[passed - 1]
    if (passed > before.current && minutes !== undefined && end > now() / 1_000)
      announce(words.time.announced(of, minutes))
    before.current = passed
  }, [passed, end, of, words])
  return <span>{text}</span>
}

/** How much of a time is left, as a line. The text beside it says the same. */
export function RemainingBar({ from, until }: { from: string; until: string }): ReactNode {
  const [begin, end] = [Date.parse(from) / 1_000, Date.parse(until) / 1_000]
  const percent = useTick((seconds) => Math.round(100 * Math.min(1, Math.max(0, (end - seconds) / (end - begin)))))
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 100 2"
      preserveAspectRatio="none"
      className="h-0.5 w-full rounded-badge bg-sunken"
    >
      <rect width={percent} height="2" className={end - begin > 0 && percent <= 10 ? 'fill-wait' : 'fill-accent'} />
    </svg>
  )
}
