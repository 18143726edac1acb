import { type Static, Type } from 'typebox'
import { type ErrorCode, errorTable, type Problem } from '../kernel/errors.ts'
import { AnyObject, OneOf } from './schema.ts'

/** The one error object: the body of every answer that is an error, and a part of answers that report several results. */
export const ErrorObject = Type.Object(
  {
    code: OneOf(Object.keys(errorTable) as ErrorCode[], { description: 'for programs' }),
    message: Type.String({ description: 'for people' }),
    details: Type.Optional(Type.Unsafe<Record<string, unknown>>({ ...AnyObject, description: 'more about it' })),
    notices: Type.Optional(
      Type.Array(Type.String(), { description: 'notices of the policy rules that made the decision' }),
    ),
  },
  { title: 'Error' },
)
export type ErrorObject = Static<typeof ErrorObject>

/** What a caller reads of a problem. */
export function errorObject({ code, message, details, notices }: Problem): ErrorObject {
  return { code, message, ...(details && { details }), ...(notices && { notices }) }
}
