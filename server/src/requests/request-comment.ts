import { type Static, Type } from 'typebox'
import { Body, DateTime, Uuid } from '../http/schema.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { isSeen } from '../kernel/one-line-name.ts'

/** A comment on a request. It decides nothing, and is never changed or deleted. */
export const RequestComment = Type.Object(
  {
    id: Uuid,
    request_id: Uuid,
    author_id: Type.String({ description: 'the user who wrote it, or who made the API key that did' }),
    author_name: Type.String({ description: 'their current name, also of a user who was deleted' }),
    text: Type.String({ description: 'plain text of one or more lines, as it was written' }),
    created_at: DateTime,
  },
  { title: 'RequestComment' },
)
export type RequestComment = Static<typeof RequestComment>

/** The input of a new comment. */
export const CommentInput = Body({
  text: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: 'one or more lines, with a character that one can see',
  }),
})

/** Comments of one request, at most: each notifies the other side. The table has the same bound. */
export const maxComments = 100

/** Throws 400 for a text of which a reader would see nothing. */
export function requireSeenText(text: string): void {
  if (isSeen(text)) return
  throw invalidInput([
    { pointer: '/text', why: 'must be text that one can see: write what the other side should read' },
  ])
}

/** 403 for a user who may see the request, and is neither its requester nor may decide it. */
export function mayNotComment(why: string): Problem {
  return new Problem(
    'forbidden',
    `only the requester, and those who may decide the request now, may comment on it: ${why}`,
  )
}

/** 422 for one comment more. */
export function tooManyComments(): Problem {
  return new Problem(
    'unprocessable',
    `the request has ${maxComments} comments, the most that a request may have: decide it, or talk elsewhere`,
  )
}
