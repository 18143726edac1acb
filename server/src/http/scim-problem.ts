/** The keywords of RFC 7644, section 3.12, that this service uses. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness'

/** An error as SCIM has it: a status, a keyword for programs, and a sentence for people. */
export class ScimProblem extends Error {
  readonly status: number
  readonly scimType: ScimType | undefined

  constructor(status: number, message: string, scimType?: ScimType) {
    super(message)
    this.status = status
    this.scimType = scimType
  }
}

/** 400: what was sent is not what the attribute can hold. */
export const invalidValue = (message: string): ScimProblem => new ScimProblem(400, message, 'invalidValue')

/** 409: another resource of the directory has it. */
export const notUnique = (message: string): ScimProblem => new ScimProblem(409, message, 'uniqueness')

/** 404, the same for a resource that does not exist and for one of another directory. */
export const noResource = (kind: 'User' | 'Group'): ScimProblem =>
  new ScimProblem(404, `${kind === 'User' ? 'user' : 'group'} not found in this directory`)
