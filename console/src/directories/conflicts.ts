import type { Schemas } from '@sallyport/client'

/** Somebody in a directory whose address or user name a user here has. */
export type Conflict = Schemas['DirectoryConflict']

/** Those about whom nobody has decided yet. */
export const openOf = <One extends Pick<Conflict, 'kept_apart'>>(conflicts: readonly One[]): One[] =>
  conflicts.filter(({ kept_apart }) => !kept_apart)

/** What a decision does. */
export type Act = 'joins' | 'comesBack' | 'staysOut' | 'freesAddress'

/** What follows where the two are one person. */
export const oneOf = ({ of_directory }: Pick<Conflict, 'of_directory'>): Act => (of_directory ? 'comesBack' : 'joins')

/** What follows where they are two. */
export const twoOf = ({ of_directory }: Pick<Conflict, 'of_directory'>): Act =>
  of_directory ? 'freesAddress' : 'staysOut'
