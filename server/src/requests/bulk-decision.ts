import { type Static, Type } from 'typebox'
import { ErrorObject } from '../http/error-object.ts'
import { Body, OneOf, Uuid } from '../http/schema.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { readUuid } from '../kernel/id.ts'
import { AccessRequest, Reasoning } from './request.ts'

/** The decisions of one call, at most: those of a page of the inbox. */
const maxDecisions = 50

/** A decision about one of several requests. */
const DecisionInput = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'the request' }),
    decision: OneOf(['approve', 'deny']),
    reasoning: Type.Optional(Reasoning),
  },
  { additionalProperties: false, title: 'DecisionInput' },
)
export type DecisionInput = Static<typeof DecisionInput>

/** The body of a call that decides several requests. */
export const DecisionsInput = Body({
  decisions: Type.Array(DecisionInput, {
    minItems: 1,
    maxItems: maxDecisions,
    description: 'each request at most once; they are made in this order',
  }),
})

/** What became of one decision. */
export const DecisionResult = Type.Object(
  {
    id: Uuid,
    status: Type.Integer({ description: 'the HTTP status that the call for this request alone would have' }),
    request: Type.Optional(AccessRequest),
    error: Type.Optional(ErrorObject),
  },
  { title: 'DecisionResult', description: 'with the `request` where it was decided, else with the `error`' },
)
export type DecisionResult = Static<typeof DecisionResult>

/** The ids as they are stored. @throws Problem 400 where two decisions are about the same request */
export function requireDistinct(decisions: readonly DecisionInput[]): DecisionInput[] {
  const firstAt = new Map<string, number>()
  const faults: FaultyField[] = []
  const read = decisions.map((decision, index) => {
    const id = readUuid(decision.id) ?? decision.id
    const before = firstAt.get(id)
    if (before === undefined) firstAt.set(id, index)
    else {
      const why = `is also the id of \`/decisions/${before}\`; decide each request once`
      faults.push({ pointer: `/decisions/${index}/id`, why })
    }
    return { ...decision, id }
  })
  if (faults.length > 0) throw invalidInput(faults)
  return read
}
