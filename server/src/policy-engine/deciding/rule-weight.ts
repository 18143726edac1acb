/**
 * What a rule takes in the engine once it is preparsed, in bytes: an estimate from its text and its parsed statement. Beside what six forms of
 * rules take, it is at most a seventh too low (its test). See docs/decisions/0112.
 */
import type { PolicyJson } from '../cedar/engine.ts'
import type { RuleGroup } from './rule-index.ts'

/** In bytes, from its text and from its statement as JSON, in which the engine gets it for one action. */
export type RuleWeight = { fromText: number; fromJson: number }

/** The fixed cost of a group in addition to its rules. */
const groupWeight = 1_200
/** A heavier group is evaluated in parts, so that no single one takes much of the shelf. */
export const maxGroupWeight = 4 * 2 ** 20

const ruleBytes = 500
const bytesOfText = 3.7
const nodeBytes = 60
/** The entries of a record are kept in blocks of this many bytes, which can be nearly half empty. */
const blockBytes = 1_100
const entriesOfBlock = 6
/** The parameters of a call, in addition to each of them. */
const listBytes = 150
const annotationBytes = 130
/** A pattern of `like` is held as characters. */
const patternBytes = 8

export function weightOf(text: string, { annotations = {}, ...statement }: PolicyJson): RuleWeight {
  const parsed = bytesOf(statement)
  const annotated = Object.keys(annotations).length * annotationBytes
  return {
    fromText: ruleBytes + bytesOfText * Buffer.byteLength(text) + annotated + parsed,
    fromJson: ruleBytes + bytesOfText * Buffer.byteLength(text) + 2 * parsed,
  }
}

function bytesOf(node: unknown, name = ''): number {
  if (typeof node !== 'object' || node === null) return nodeBytes
  if (Array.isArray(node)) {
    if (name === 'pattern') return nodeBytes + node.length * patternBytes
    return node.reduce((sum, element) => sum + bytesOf(element), nodeBytes + (name === 'Set' ? 0 : listBytes))
  }
  const entries = Object.entries(node)
  let sum = nodeBytes + (name === 'Record' ? Math.ceil(entries.length / entriesOfBlock) * blockBytes : 0)
  for (const [key, value] of entries) sum += bytesOf(value, key)
  return sum
}

type Weighed = { serial: number; weight: RuleWeight; body?: string }
type Group<Rule> = Pick<RuleGroup<Rule>, 'rules' | 'action'>

const ofRule = ({ weight, body }: Weighed, action: string | undefined) =>
  action !== undefined && body !== undefined ? weight.fromJson : weight.fromText

/** In bytes. */
export function weightOfGroup({ rules, action }: Group<Weighed>): number {
  return rules.reduce((sum, rule) => sum + ofRule(rule, action), groupWeight)
}

/** By the group: those that many questions share are large. */
const knownParts = new WeakMap<object, readonly unknown[]>()

/** The group, or its parts where it is too heavy; a part is too heavy only where it is one rule. */
export function partsOfGroup<Rule extends Weighed>(group: RuleGroup<Rule>): readonly RuleGroup<Rule>[] {
  const known = knownParts.get(group)
  if (known !== undefined) return known as readonly RuleGroup<Rule>[]
  const parts = weightOfGroup(group) <= maxGroupWeight ? [group] : splitGroup(group)
  knownParts.set(group, parts)
  return parts
}

function splitGroup<Rule extends Weighed>(group: RuleGroup<Rule>): RuleGroup<Rule>[] {
  const parts: Rule[][] = []
  let room = 0
  for (const rule of group.rules) {
    const weight = ofRule(rule, group.action)
    if (weight > room || parts.length === 0) {
      parts.push([])
      room = maxGroupWeight - groupWeight
    }
    parts.at(-1)?.push(rule)
    room -= weight
  }
  const prefix = group.action === undefined ? '' : `a:${group.action} `
  return parts.map((rules) => ({ ...group, rules, key: prefix + rules.map(({ serial }) => serial).join() }))
}
