import type { Schemas } from '@sallyport/client'

/** Somebody in a directory whose address another user here has. */
export type Conflict = Schemas['DirectoryConflict'] & {
  /** The name of the user here. */
  holder_name?: string
  /** The user here is one of the same directory who left: the person may have come back under another id, or somebody else got the address. */
  of_directory?: boolean
}

/** Those about whom nobody has decided yet. */
export const openOf = <One extends Pick<Conflict, 'kept_apart'>>(conflicts: readonly One[]): One[] =>
  conflicts.filter(({ kept_apart }) => !kept_apart)

/** What a decision does. `user_id`: what it says to the service. */
export type Act = 'joins' | 'comesBack' | 'staysOut' | 'freesAddress'

/** What follows where the two are one person. */
export const oneOf = ({ of_directory }: Pick<Conflict, 'of_directory'>): Act => (of_directory ? 'comesBack' : 'joins')

/** What follows where they are two. */
export const twoOf = ({ of_directory }: Pick<Conflict, 'of_directory'>): Act =>
  of_directory ? 'freesAddress' : 'staysOut'

/** Whom the act makes the user of the directory; null: nobody. */
export const settledBy = (act: Act, { user_id }: Pick<Conflict, 'user_id'>): string | null =>
  act === 'joins' || act === 'comesBack' ? user_id : null
