/** What is left of a time. */
export type Remaining = { days: number; hours: number; minutes: number; seconds: number; total: number }

/** Under five minutes it counts seconds, and above it minutes, begun ones included: access of an hour begins with 60 minutes left. */
export function remaining(secondsLeft: number): Remaining {
  const left = Math.max(0, Math.ceil(secondsLeft))
  const exact = left < 300
  const total = exact ? left : Math.ceil(left / 60) * 60
  return {
    days: Math.floor(total / 86_400),
    hours: Math.floor((total % 86_400) / 3_600),
    minutes: Math.floor((total % 3_600) / 60),
    seconds: total % 60,
    total: left,
  }
}

/** The minutes at which a countdown is read out. */
export const announcedMinutes = [15, 5, 1]
