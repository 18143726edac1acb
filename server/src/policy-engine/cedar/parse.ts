/** Text to the engine's JSON and back. Everything here is guarded before the engine sees it. */
import { type Cedar, type Clause, type Engine, EngineFault, type PolicyJson, textEngine } from './engine.ts'
import { engineRefused, invalidPolicy, type Source } from './fault.ts'
import { requireSafeStatement, requireSafeText } from './guard.ts'

/** Runs the engine for a text from a user: what breaks it is the text's fault, answered as `invalid_policy`. */
export function withTextEngine<T>(source: Source, work: (cedar: Cedar) => T): T {
  try {
    return textEngine.use(work)
  } catch (error) {
    if (!(error instanceof EngineFault)) throw error
    throw invalidPolicy('the policy engine could not take this statement', source, undefined, 'make two rules of it')
  }
}

/** Exactly one static statement; 400 `invalid_policy` for anything else. */
export function parseStatement(policyText: string): PolicyJson {
  return parseSource({ field: 'policy_text', text: policyText })
}

function parseSource(source: Source, frame: { before: string; after: string } = { before: '', after: '' }): PolicyJson {
  requireSafeText(source)
  const answer = withTextEngine(source, (cedar) => cedar.policyToJson(frame.before + source.text + frame.after))
  if (answer.type === 'failure') throw engineRefused(answer.errors, source, frame.before)
  requireSafeStatement(answer.json, source)
  return answer.json
}

/**
 * A stored rule, read by an engine once more: it was read as a text from a user before.
 * @throws Error where it does not parse, which is no caller's fault
 */
export function parseStored(engine: Engine, rule: { id: string; policy_text: string }): PolicyJson {
  const answer = engine.use((cedar) => cedar.policyToJson(rule.policy_text))
  if (answer.type === 'success') return answer.json
  throw new Error(`rule \`${rule.id}\` does not parse: ${answer.errors[0]?.message}`)
}

const bareHead = 'permit(principal, action, resource)'
const bareStatement = {
  effect: 'permit',
  principal: { op: 'All' },
  action: { op: 'All' },
  resource: { op: 'All' },
} as const

/**
 * The clauses of a text of conditions, parsed as the tail of a statement of their own; what would end that statement and
 * begin another is `invalid_policy`.
 */
export function parseConditions(conditions: string): Clause[] {
  return parseSource({ field: 'conditions', text: conditions }, { before: `${bareHead}\n`, after: '\n;' }).conditions
}

/** The statement as the engine writes it. `source` is whom to blame: the caller's text that it was made from. */
export function printStatement(statement: PolicyJson, source: Source): string {
  const answer = withTextEngine(source, (cedar) => cedar.policyToText(statement))
  if (answer.type === 'failure') throw engineRefused(answer.errors, source)
  return answer.text
}

/** Annotations as text; '' for none. */
export function printAnnotations(annotations: Record<string, string>, source: Source): string {
  return printStatement({ ...bareStatement, conditions: [], annotations }, source).slice(0, -`${bareHead};`.length)
}

/** Clauses as text; '' for none. */
export function printConditions(clauses: Clause[], source: Source): string {
  const printed = printStatement({ ...bareStatement, conditions: clauses }, source)
  return printed.slice(bareHead.length, -';'.length).trim()
}
