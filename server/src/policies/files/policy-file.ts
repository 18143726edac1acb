/** A policy as a `.cedar` file: each rule is one statement, with its other fields as annotations. */
import { Type } from 'typebox'
import { Body } from '../../http/schema.ts'
import { readUuid } from '../../kernel/id.ts'
import { annotationsOf, cedarString, withoutId } from '../../policy-engine/cedar/file.ts'
import type { StatementFields } from '../../policy-engine/cedar/statement.ts'
import type { Rule } from '../../policy-engine/rule.ts'
import type { Policy } from '../policy.ts'

/** Bytes of a body with a file: 10,000 rules of some 400 bytes each. */
export const maxFileBytes = 4 * 1024 * 1024

/** A file, in either direction. */
export const PolicyFile = Body({ cedar: Type.String({ minLength: 1, description: 'The text of the file.' }) })

/** What a file says of a rule. */
export type FiledRule = StatementFields & Pick<Rule, 'id' | 'ordinal'>

/** What an export or an import of a policy reads of it. */
export type FiledPolicy = Pick<Policy, 'id' | 'name' | 'description' | 'enabled'> & { rules: readonly FiledRule[] }

/** The file of a policy. Importing it unchanged changes nothing. */
export function writePolicyFile({ name, description, rules }: FiledPolicy): string {
  const head = [`Policy: ${name}`, ...(description === '' ? [] : description.split(/\r\n|[\n\r]/))]
  const comment = head.map((line) => `// ${line}`.trimEnd()).join('\n')
  return [comment, ...ruleTexts(rules).map(({ rule, name: own, text }) => inFile(rule, own, text))]
    .join('\n\n')
    .concat('\n')
}

function inFile({ id, ordinal }: FiledRule, name: string | undefined, text: string): string {
  const id_line = name === undefined ? `@id("${id}")\n` : ''
  return `${id_line}@ordinal("${ordinal}")\n${text}`
}

/** A stored rule in the form of a file. */
export type RuleText = {
  rule: FiledRule
  /** The author's name for it, where no other rule of the policy has the name. */
  name: string | undefined
  /** The statement with its annotations, without `@id` and `@ordinal`. */
  text: string
}

export function ruleTexts(rules: readonly FiledRule[]): RuleText[] {
  const named = rules.map((rule) => ({ rule, annotations: annotationsOf(rule.policy_text) }))
  const nameCounts = Map.groupBy(named, ({ annotations }) => annotations.get('id'))
  return named.map(({ rule, annotations }) => {
    const id = annotations.get('id')
    const isName = id !== undefined && readUuid(id) === undefined && nameCounts.get(id)?.length === 1
    const statement = (isName ? rule.policy_text : withoutId(rule.policy_text)).trim()
    return { rule, name: isName ? id : undefined, text: wordsBeside(rule, annotations) + statement }
  })
}

/** The annotations for fields that are in the columns but not in the text. */
function wordsBeside(rule: FiledRule, said: ReadonlyMap<string, string>): string {
  const { notice, audit_session, approval_mode: mode, effect } = rule
  const words = {
    notice,
    audit_session: audit_session ? 'true' : undefined,
    approval_mode: mode === 'require' && effect === 'permit' ? undefined : mode,
  }
  return Object.entries(words)
    .filter(([name, value]) => value !== undefined && !said.has(name))
    .map(([name, value]) => `@${name}(${cedarString(value ?? '')})\n`)
    .join('')
}
