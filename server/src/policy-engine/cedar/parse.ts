/** Text to the engine's JSON and back. The guard checks every text before the engine receives it. */
import { type Cedar, type Clause, type Engine, EngineFault, type PolicyJson, textEngine } from './engine.ts'
import { engineRefused, invalidPolicy, type Source } from './fault.ts'
import { requireSafeStatement, requireSafeText } from './guard.ts'

/** Runs the engine for a text from a user. A failure of the engine is the text's fault and is answered as `invalid_policy`. */
export function withTextEngine<T>(source: Source, work: (cedar: Cedar) => T): T {
  try {
    return textEngine.use(work)
  } catch (error) {
    if (!(error instanceof EngineFault)) throw error
    throw invalidPolicy(
      'the policy engine could not process this statement',
      source,
      undefined,
      'split it into two rules',
    )
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
 * Parses a stored rule; it was parsed as a user's text when it was saved.
 * @throws Error where it does not parse, which is not the caller's fault
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
 * The clauses of a text of conditions, parsed as the tail of a separate statement. A text that would end that statement and begin
 * another is `invalid_policy`.
 */
export function parseConditions(conditions: string): Clause[] {
  return parseSource({ field: 'conditions', text: conditions }, { before: `${bareHead}\n`, after: '\n;' }).conditions
}

/** The statement as the engine prints it. `source` is the caller's text behind it, for error messages. */
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
