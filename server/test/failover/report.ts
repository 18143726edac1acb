import type { Fault } from '../kill/consistency.ts'
import type { Round, TrialResults } from './trial.ts'

const columns = [
  ...[
    'no writes s',
    'answers',
    'meanwhile',
    'refused',
    'repeated',
    'lost',
    'doubled',
    'left',
    'unreported',
    'latest end s',
    'at rest s',
  ],
]

/** Prints a row for each failover; returns whether there were no faults. */
export function report({ rounds, complaints, seconds, stopped }: TrialResults, say: (line: string) => void): boolean {
  say('')
  say(row('failover', columns))
  for (const round of rounds)
    say(row(`${round.cause} ${round.failover.from} to ${round.failover.to}`, figuresOf(round)))
  for (const [text, count] of complaints) say(`the services logged ${count} times: ${text}`)
  const faults = rounds.reduce((count, round) => count + round.faults.length, 0)
  say(`\n${rounds.length} failovers in ${Math.round(seconds)} s; ${faults} faults`)
  if (stopped !== undefined) say(`the trial could not go on: ${stopped}`)
  return faults === 0 && stopped === undefined
}

function figuresOf(round: Round): (string | number)[] {
  const count = (kind: Fault['kind']) => round.faults.filter((fault) => fault.kind === kind).length
  return [
    round.failover.secondsWithoutWrites.toFixed(1),
    round.acknowledged,
    round.meanwhile,
    round.refused,
    round.repeats,
    ...[count('lost'), count('doubled'), count('dangling'), count('unreported')],
    round.latestEndSeconds.toFixed(1),
    round.restSeconds.toFixed(1),
  ]
}

function row(name: string, figures: readonly (string | number)[]): string {
  return name.padEnd(28) + figures.map((figure) => String(figure).padStart(14)).join('')
}
