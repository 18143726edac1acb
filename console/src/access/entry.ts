import type { Schemas } from '@sallyport/client'

/** A resource and an action that the person may request. */
export type Entry = Schemas['CatalogueEntry']

/** Tells entries apart. */
export const keyOf = ({ resource, action }: Entry): string => `${resource.type}/${resource.id}/${action}`
