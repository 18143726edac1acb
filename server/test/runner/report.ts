/** The number of a file's tests by result. */
export type Totals = {
  tests: number
  suites: number
  passed: number
  failed: number
  cancelled: number
  skipped: number
  todo: number
  success: boolean
}

/** The messages of a process that runs test files to its parent. */
export type FromWorker =
  | { type: 'started'; file: string }
  | { type: 'progress'; test: string }
  | { type: 'finished'; file: string; seconds: number; totals: Totals; output: string }

/** The result of a file. `output`: the reports of its tests; `otherOutput`: everything else that was written. */
export type Outcome = { file: string; seconds: number; totals: Totals; output: string; otherOutput: string }

const counted = ['tests', 'suites', 'passed', 'failed', 'cancelled', 'skipped', 'todo'] as const

const nothing: Totals = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0, success: true }

/** The result of a file that did not finish. */
export function brokenOff(file: string, seconds: number, why: string, otherOutput: string): Outcome {
  const totals = { ...nothing, tests: 1, failed: 1, success: false }
  return { file, seconds, totals, output: `✖ ${file}\n  ${why}\n`, otherOutput }
}

/** One line for a file, with all its output if it failed or the caller wants it. */
export function describe(
  { file, seconds, totals, output, otherOutput }: Outcome,
  place: string,
  whole: boolean,
): string {
  const tests = totals.tests === 1 ? '1 test' : `${totals.tests} tests`
  const line = `${totals.success ? '✔' : '✖'} ${place} ${file} (${tests}, ${seconds.toFixed(1)} s)\n`
  const rest = otherOutput.trim() === '' ? '' : `${otherOutput.trimEnd()}\n`
  return whole || !totals.success ? `${line}${output}${rest}` : `${line}${rest}`
}

/** The closing lines, in the form of node:test itself. */
export function summarize(outcomes: readonly Outcome[], seconds: number): string {
  const failed = outcomes.filter(({ totals }) => !totals.success)
  const sums = counted.map((name) => outcomes.reduce((sum, { totals }) => sum + totals[name], 0))
  const names = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo']
  return [
    ...(failed.length > 0 ? ['✖ failing files:', ...failed.map(({ file }) => `  ${file}`)] : []),
    ...names.map((name, index) => `ℹ ${name} ${sums[index]}`),
    `ℹ duration_ms ${Math.round(seconds * 1_000)}`,
  ].join('\n')
}

/** The files that took longest, for finding why a run has become slow. */
export function slowest(outcomes: readonly Outcome[], count: number): string[] {
  return [...outcomes]
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${file}`)
}
