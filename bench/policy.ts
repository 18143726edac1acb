import type { Bench, Effort, Measured } from './bench.ts'
import {
  casbin,
  caslOfAll,
  caslOfRequester,
  newEvaluator,
  ours,
  type PolicyContender,
  ruleSetOf,
  unsliced,
} from './policy-contenders.ts'
import {
  broadRulesOnly,
  companyRules,
  conditionalRulesOnly,
  differingRulesOnly,
  type PlainQuestion,
  type PlainRule,
  questionsFor,
} from './policy-rules.ts'
import { type Contender, measureInRounds, median, type Result } from './rounds.ts'

/** For the rules of a company; if all rules are broad, fewer questions suffice. */
const questionCount = 200
const broadQuestionCount = 30

type Field = { row: string; rules: PlainRule[]; questions: PlainQuestion[] }

function fieldsFor({ isMiniature }: Effort): Field[] {
  const sizes = isMiniature ? [10, 200] : [10, 1_000, 10_000]
  const field = (what: string, rules: PlainRule[], count: number): Field => ({
    row: `${rules.length.toLocaleString('en')} ${what}`,
    rules,
    questions: questionsFor(rules.length, isMiniature ? 50 : count),
  })
  return [
    ...sizes.map((size) => field('rules', companyRules(size), questionCount)),
    ...sizes.slice(1).map((size) => field('rules, none narrower', broadRulesOnly(size), broadQuestionCount)),
    ...sizes
      .slice(-1)
      .flatMap((size) => [
        field('rules, none narrower, no two alike', differingRulesOnly(size), broadQuestionCount),
        field('rules, told apart by conditions', conditionalRulesOnly(size), broadQuestionCount),
      ]),
  ]
}

async function contendersFor({ rules, questions }: Field): Promise<Record<string, PolicyContender>> {
  const ruleSet = ruleSetOf(rules, '1')
  const own = { sallyport: ours(ruleSet, questions), 'the engine, unsliced': unsliced(ruleSet, questions) }
  if (rules.some(({ condition }) => condition !== undefined)) return own
  return {
    ...own,
    casbin: await casbin(rules, questions),
    'CASL, all rules': caslOfAll(rules, questions),
    'CASL, own rules': caslOfRequester(rules, questions),
  }
}

/** Asserts that all contenders answer every question alike; returns the number of allowed ones. */
function compare({ row, questions }: Field, contenders: Record<string, PolicyContender>): number {
  const [first, ...others] = Object.entries(contenders)
  let allowed = 0
  for (const [index, question] of questions.entries()) {
    const answer = first?.[1].allows(index)
    if (answer) allowed += 1
    const odd = others.find(([, { allows }]) => allows(index) !== answer)
    if (odd !== undefined) throw new Error(`${row}: ${odd[0]} does not answer ${answer} to ${JSON.stringify(question)}`)
  }
  return allowed
}

/** One question after another, as the service decides on its one thread. */
function measured(row: string, column: string, contender: PolicyContender, { isMiniature }: Effort): Contender {
  let next = 0
  return {
    row,
    column,
    async measure(seconds) {
      const [began, span] = [performance.now(), isMiniature ? 50 : seconds * 1_000]
      let done = 0
      for (; performance.now() - began < span; done += 1, next += 1) contender.allows(next)
      return done / ((performance.now() - began) / 1_000)
    },
  }
}

async function run(effort: Effort, say: (line: string) => void): Promise<Measured> {
  const contenders: Contender[] = []
  const compared: string[] = []
  for (const field of fieldsFor(effort)) {
    const all = await contendersFor(field)
    const allowed = compare(field, all)
    compared.push(`${allowed} of ${field.questions.length} allowed by the ${field.row}`)
    say(`${field.row}: all answer alike`)
    for (const [column, contender] of Object.entries(all))
      contenders.push(measured(field.row, column, contender, effort))
  }
  const results = await measureInRounds(contenders, effort, say)
  const columns = [...new Set(results.map(({ column }) => column))]
  const rows = [...new Set(results.map(({ row }) => row))]
  return {
    columns: ['decisions a second', ...columns],
    rows: rows.map((row) => [row, ...columns.map((column) => inWords(rateOf(results, row, column)))]),
    notes: [
      `Medians of ${effort.rounds} rounds of ${effort.seconds} s, on one thread. Every answer of every contender was compared: ${compared.join(', ')}.`,
      costRatio(results, rows),
      ...(await loading(effort)),
    ],
  }
}

function rateOf(results: readonly Result[], row: string, column: string): number {
  return median(results.find((one) => one.row === row && one.column === column)?.perSecond ?? [])
}

/** '–' where the contender was not asked. */
function inWords(rate: number): string {
  if (rate === 0) return '–'
  return rate >= 10 ? Math.round(rate).toLocaleString('en') : rate.toFixed(1)
}

function costRatio(results: readonly Result[], rows: readonly string[]): string {
  const company = rows.filter((row) => row.endsWith('rules'))
  const rates = company.map((row) => rateOf(results, row, 'sallyport'))
  const ratios = rates.slice(1).map((rate, index) => `${((rates[0] ?? 0) / rate).toFixed(1)} at ${company[index + 1]}`)
  return `The cost of a decision of sallyport, relative to that at ${company[0]}: ${ratios.join(', ')}.`
}

/** The cold costs: reading the rules, reading them again after a change, and the first evaluation. */
async function loading({ isMiniature }: Effort): Promise<string[]> {
  const size = isMiniature ? 200 : 10_000
  const [rules, questions] = [companyRules(size), questionsFor(size, questionCount)]
  const evaluator = newEvaluator()
  const before = ruleSetOf(rules, '1')
  const reading = await timed(() => evaluator.rules.prepare(before))
  const first = ours(before, questions, evaluator)
  const times = questions.map((_, index) => timedNow(() => first.allows(index))).sort((one, other) => one - other)
  const after = ruleSetOf(rules.with(-1, { effect: 'permit', holder: null, actions: ['Admin'], place: null }), '2')
  const again = await timed(() => evaluator.rules.prepare(after, before))
  const ms = (milliseconds: number) => `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`
  const at = (share: number) => ms(times[Math.floor(share * (times.length - 1))] ?? 0)
  return [
    `Of ${size.toLocaleString('en')} rules the first evaluation of a question took ${at(0.5)} (median), ${at(0.95)} (95 of 100) and ${at(1)} at most.`,
    `Reading them took ${ms(reading)}, and ${ms(again)} after a change of one, in pieces that yield to the event loop.`,
  ]
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function timedNow(work: () => unknown): number {
  const began = performance.now()
  work()
  return performance.now() - began
}

export const policy: Bench = {
  summary: 'decisions a second, compared with other engines, for growing numbers of rules',
  run,
}
