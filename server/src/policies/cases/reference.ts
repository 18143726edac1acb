import type { ResourceReference } from '../../policy-engine/cedar/question.ts'
import { askedTypes } from '../../policy-engine/cedar/schema.ts'

/** `type::id` of a resource's ancestor; undefined for any other text. */
export function readReference(text: string): ResourceReference | undefined {
  const [name, ...rest] = text.split('::')
  const type = askedTypes.find((known) => known === name)
  return type === undefined || rest.length === 0 ? undefined : { type, id: rest.join('::') }
}
