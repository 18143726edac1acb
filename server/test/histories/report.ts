import type { Kind, Result, Results } from './campaign.ts'

/** Prints the figures; returns whether nothing is wrong. */
export function report({ done, complaints, seconds }: Results, say: (line: string) => void): boolean {
  say('')
  for (const line of answerLines(done)) say(line)
  for (const kind of ['plain', 'kill', 'failover'] as const) {
    const some = done.filter((result) => result.kind === kind)
    if (some.length > 0) say(kindLine(kind, some))
  }
  for (const [text, count] of complaints) say(`the service logged ${count} times: ${text}`)
  const violations = sumOf(done, (result) => result.violations)
  const faults = done.filter(({ fault }) => fault !== undefined).length
  const checking = sumOf(done, ({ checkMs }) => checkMs) / Math.max(1, done.length)
  say(`\n${done.length} histories in ${Math.round(seconds)} s, ${checking.toFixed(0)} ms each to check`)
  say(`${violations} violations, ${faults} histories that could not be recorded or checked`)
  return violations + faults === 0
}

function kindLine(kind: Kind, some: readonly Result[]): string {
  const [calls, open] = [sumOf(some, (result) => result.calls), sumOf(some, (result) => result.open)]
  return `${kind}: ${some.length} histories, ${calls} calls, ${open} without an answer that says what happened`
}

/** For each call, how often it was answered in which way: a call that is always refused would try nothing. */
function answerLines(done: readonly Result[]): string[] {
  const counts = new Map<string, Map<string, number>>()
  for (const [key, count] of done.flatMap(({ answers }) => [...answers])) {
    const [call = '', answer = ''] = key.split(': ')
    const ofCall = counts.get(call) ?? new Map<string, number>()
    counts.set(call, ofCall.set(answer, (ofCall.get(answer) ?? 0) + count))
  }
  return [...counts]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(
      ([call, answers]) =>
        `${call.padEnd(20)}${[...answers].map(([answer, count]) => `${answer}: ${count}`).join('  ')}`,
    )
}

function sumOf(done: readonly Result[], figure: (result: Result) => number): number {
  return done.reduce((sum, result) => sum + figure(result), 0)
}
