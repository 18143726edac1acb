/** What a rule wants to know of a person beside their name and address, in words: department, job title and manager. */
import type { Expr } from '../cedar/engine.ts'
import { attributeOf, entitiesIn, formOf, isVariable } from '../cedar/expression.ts'
import type { Principal } from '../cedar/question.ts'
import { entityKey } from '../cedar/reading.ts'
import type { WantedWords } from './circumstance-words.ts'

/** Facts as people call them. */
const names: Readonly<Record<string, string>> = { department: 'department', title: 'job title', manager: 'manager' }

/** The asking person, and the words for the people that rules name, by `entityKey`. */
type Known = { principal: Principal; people: ReadonlyMap<string, string> }
type FactWords = WantedWords & { kind: 'principal' }

/** The words for a condition that tests whether a fact is known, or who somebody's manager is; undefined for any other. */
export function factWords(body: Expr, wanted: boolean, known: Known): FactWords | undefined {
  const { operator, operands } = formOf(body)
  if (operator === 'has' && isVariable(operands.left, 'principal')) return isKnown(String(operands.attr), wanted, known)
  const { left, right } = operands
  if (operator !== '==' || left === undefined || right === undefined) return undefined
  const manager = [left, right].some((side) => attributeOf(side, 'principal') === 'manager')
  return manager ? managerWords(entitiesIn(right) ?? entitiesIn(left), wanted, known) : undefined
}

function isKnown(fact: string, wanted: boolean, { principal }: Known): FactWords | undefined {
  const name = Object.hasOwn(names, fact) ? names[fact] : undefined
  if (name === undefined) return undefined
  return {
    kind: 'principal',
    wanted: `to users whose ${name} is ${wanted ? 'known' : 'not known'}`,
    given: `yours is ${Object.hasOwn(principal, fact) ? 'known' : 'not known'}`,
  }
}

function managerWords(
  [manager]: ReturnType<typeof entitiesIn> = [],
  wanted: boolean,
  { principal, people }: Known,
): FactWords | undefined {
  if (manager === undefined) return undefined
  const who = people.get(entityKey(manager)) ?? `the user \`${manager.id}\``
  return {
    kind: 'principal',
    wanted: `to users whose manager is ${wanted ? '' : 'not '}${who}`,
    given: principal.manager === undefined ? 'yours is not known' : `yours is${wanted ? ' not' : ''}`,
  }
}

/** A department or a job title that a condition compares; undefined for any other attribute. */
export function comparedFact(attribute: string | undefined, principal: Principal) {
  if (attribute !== 'department' && attribute !== 'title') return undefined
  const name = `your ${names[attribute]}`
  return { kind: 'principal', name, value: principal[attribute], isShown: true, absent: 'it is not known' } as const
}
