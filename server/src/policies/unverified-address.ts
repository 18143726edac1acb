/**
 * Finds the addresses that a rule trusts although nobody may have verified them: anybody can have somebody else's address at a provider
 * that does not check it. The check reads the engine's JSON, so that spelling (`principal["email"]`) makes no difference.
 */
import type { Clause, Expr } from '../policy-engine/cedar/engine.ts'
import { entityOf, formOf } from '../policy-engine/cedar/expression.ts'
import type { Effect } from '../policy-engine/rule.ts'

/** A sentence for each person whose address the clauses read, where no clause reads whether that address is verified. */
export function unverifiedAddresses(effect: Effect, clauses: readonly Clause[]): string[] {
  const trusted = new Map<string, Set<string>>()
  const verified = new Set<string>()
  for (const clause of clauses) {
    const reads = readsIn(clause.body)
    for (const person of reads.verified) verified.add(person)
    for (const person of reads.address) {
      const advice = trusted.get(person) ?? new Set()
      trusted.set(person, advice.add(adviceFor(effect, clause, person)))
    }
  }
  return [...trusted]
    .filter(([person]) => !verified.has(person))
    .slice(0, namedAtMost)
    .map(([person, advice]) => {
      const trusts = `this rule trusts \`${person}.email\` also where nobody verified that address, which proves nothing`
      return `${trusts}; add ${[...advice].join(' and ')}`
    })
}

const namedAtMost = 5

/**
 * What to add so that an unverified address gains nothing: a clause that gives access must also want the address verified, and one that
 * prevents access must also hold where it is not.
 */
function adviceFor(effect: Effect, { kind, body }: Clause, person: string): string {
  const gives = (effect === 'permit') === (kind === 'when')
  const added = gives ? `&& ${person}.email_verified` : `|| !${person}.email_verified`
  const { operator } = formOf(body)
  // Without brackets, the addition would join only the last alternative.
  const isLoose = operator === 'if-then-else' || (gives && operator === '||')
  return `\`${added}\` to its \`${kind}\`${isLoose ? ' (with brackets around the rest)' : ''}`
}

type Reads = { address: Set<string>; verified: Set<string> }

/** The people whose `email` and whose `email_verified` an expression reads. Each node is visited once. */
function readsIn(body: Expr): Reads {
  const reads: Reads = { address: new Set(), verified: new Set() }
  const pending: unknown[] = [body]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== 'object' || next === null) continue
    pending.push(...Object.values(next))
    const { '.': read, has: tested } = next as { '.'?: Attribute; has?: Attribute }
    if (read?.attr === 'email') for (const person of peopleIn(read.left)) reads.address.add(person)
    if (read?.attr === 'email_verified') for (const person of peopleIn(read.left)) reads.verified.add(person)
    // The attribute is always present: `has email_verified` says nothing about the address.
    if (tested !== undefined) for (const person of peopleTested(tested)) reads.address.add(person)
  }
  return reads
}

/** `has` also tests attributes of attributes: `resource has requester.email`. */
type Attribute = { left: Expr; attr: string | string[] }

function peopleTested({ left, attr }: Attribute): string[] {
  const path = [attr].flat()
  const at = path.indexOf('email')
  if (at < 0) return []
  return peopleIn(path.slice(0, at).reduce<Expr>((of, name) => ({ '.': { left: of, attr: name } }), left))
}

/** The people that an expression may be, as a rule names them; none where it is something else that has an `email`. */
function peopleIn(expression: Expr): string[] {
  const found = new Set(originsOf(expression))
  return [...found].filter((origin) => ['principal', 'resource.requester'].includes(origin) || /^User::/.test(origin))
}

/** The variables and literal users behind an expression, through alternatives and through records that only wrap them. */
function originsOf(expression: Expr): string[] {
  const { operator, operands } = formOf(expression)
  const { left, attr } = operands
  if (operator === 'Var') return [String(operands)]
  if (operator === 'if-then-else') return alternatives(expression).flatMap(originsOf)
  if (operator === '.' && left !== undefined && attr !== undefined)
    return [...originsOf(left).map((origin) => `${origin}.${attr}`), ...fieldsOf(left, attr).flatMap(originsOf)]
  const entity = entityOf(expression)
  return entity?.type === 'User' ? [`User::${JSON.stringify(entity.id)}`] : []
}

/** The expressions that a literal record may have under this name. */
function fieldsOf(expression: Expr, name: string): Expr[] {
  const { operator, operands } = formOf(expression)
  const { left, attr } = operands
  if (operator === 'if-then-else') return alternatives(expression).flatMap((one) => fieldsOf(one, name))
  if (operator === '.' && left !== undefined && attr !== undefined)
    return fieldsOf(left, attr).flatMap((field) => fieldsOf(field, name))
  if (operator !== 'Record' || !Object.hasOwn(operands, name)) return []
  return [(operands as Record<string, Expr>)[name] as Expr]
}

function alternatives(expression: Expr): Expr[] {
  const { operands } = formOf(expression)
  return [operands.then, operands.else].filter((one) => one !== undefined)
}
