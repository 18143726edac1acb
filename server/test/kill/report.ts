import type { Result, Results } from './campaign.ts'
import type { Fault } from './consistency.ts'

const kinds: readonly Fault['kind'][] = ['lost', 'dangling', 'doubled', 'unreported']

/** Prints the table; returns whether there were no faults. */
export function report({ done, complaints, seconds }: Results, say: (line: string) => void): boolean {
  const names = [...new Set(done.map(({ name }) => name))].toSorted()
  say('')
  say(row('point', ['kills', ...kinds, 'p50 s', 'max s']))
  for (const name of names) {
    const results = done.filter((result) => result.name === name)
    say(row(name, figuresOf(results)))
  }
  say(row('all', figuresOf(done)))
  for (const [text, count] of complaints) say(`the service logged ${count} times: ${text}`)
  const missed = done.filter(({ reached }) => !reached).length
  const faults = done.reduce((count, result) => count + result.faults.length, 0)
  say(`\n${done.length} in ${Math.round(seconds)} s; ${faults} faults; ${missed} points never reached`)
  return faults + missed === 0
}

function figuresOf(results: readonly Result[]): (string | number)[] {
  const reached = results.filter((result) => result.reached)
  const times = reached.map(({ convergedMs }) => convergedMs).toSorted((one, two) => one - two)
  const counted = kinds.map(
    (kind) => results.flatMap(({ faults }) => faults).filter((fault) => fault.kind === kind).length,
  )
  const at = (index: number) => ((times[index] ?? 0) / 1000).toFixed(1)
  return [reached.length, ...counted, at(Math.floor((times.length - 1) / 2)), at(times.length - 1)]
}

function row(name: string, figures: readonly (string | number)[]): string {
  return name.padEnd(48) + figures.map((figure) => String(figure).padStart(10)).join('')
}
