import type { Words } from '../words.ts'

const parts = (pairs: readonly (readonly [number, string])[]) =>
  pairs
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')

const days = (count: number): readonly [number, string] => [count, count === 1 ? 'Tag' : 'Tage']

export const time: Words['time'] = {
  duration: (seconds) => {
    const rest = seconds % 86_400
    const units = [
      days(Math.floor(seconds / 86_400)),
      [Math.floor(rest / 3_600), 'h'],
      [Math.floor((rest % 3_600) / 60), 'min'],
      [rest % 60, 's'],
    ] as const
    return parts(units) || '0 s'
  },
  left: ({ days: left, hours, minutes, seconds, total }) => {
    if (total === 0) return 'endet jetzt'
    if (total < 300) return `noch ${minutes}:${String(seconds).padStart(2, '0')}`
    if (left > 0) return `noch ${parts([days(left), [hours, 'h']])}`
    return `noch ${parts([
      [hours, 'h'],
      [minutes, 'min'],
    ])}`
  },
  announced: (what, minutes) => `${what}: noch ${minutes === 1 ? '1 Minute' : `${minutes} Minuten`}`,
  at: (moment) => `um ${moment}`,
  on: (moment) => `am ${moment}`,
  ago: (seconds) => {
    if (seconds < 60) return 'gerade eben'
    if (seconds < 3_600) return `vor ${Math.floor(seconds / 60)} min`
    if (seconds < 86_400) return `vor ${Math.floor(seconds / 3_600)} h`
    const count = Math.floor(seconds / 86_400)
    return count === 1 ? 'vor 1 Tag' : `vor ${count} Tagen`
  },
}
