import type { Remaining } from '../../time/remaining.ts'

const parts = (pairs: readonly (readonly [number, string])[]) =>
  pairs
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')

export const time = {
  /** As in 1 h 30 min. */
  duration: (seconds: number): string => {
    const [days, rest] = [Math.floor(seconds / 86_400), seconds % 86_400]
    const units = [
      [days, days === 1 ? 'day' : 'days'],
      [Math.floor(rest / 3_600), 'h'],
      [Math.floor((rest % 3_600) / 60), 'min'],
      [rest % 60, 's'],
    ] as const
    return parts(units) || '0 s'
  },
  left: ({ days, hours, minutes, seconds, total }: Remaining): string => {
    if (total === 0) return 'ends now'
    if (total < 300) return `${minutes}:${String(seconds).padStart(2, '0')} left`
    if (days > 0)
      return `${parts([
        [days, days === 1 ? 'day' : 'days'],
        [hours, 'h'],
      ])} left`
    return `${parts([
      [hours, 'h'],
      [minutes, 'min'],
    ])} left`
  },
  /** Read out. `what` is a name. */
  announced: (what: string, minutes: number): string =>
    `${what}: ${minutes === 1 ? '1 minute' : `${minutes} minutes`} left`,
  /** A moment within a sentence: today, and on another day. */
  at: (time: string) => `at ${time}`,
  on: (moment: string) => `on ${moment}`,
  ago: (seconds: number): string => {
    if (seconds < 60) return 'just now'
    if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
    if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`
    const days = Math.floor(seconds / 86_400)
    return days === 1 ? '1 day ago' : `${days} days ago`
  },
}
