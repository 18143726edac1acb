const form = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** A uuid, with its hyphens or without. */
const idForm = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){4}[0-9a-f]{8}$/

/** Why a text is no slug, as a half-sentence; undefined for a valid one. The table `tenant` has the same rules. */
export function slugFault(text: string): string | undefined {
  if (!form.test(text)) {
    return 'is not a valid slug; use 1 to 63 lower-case letters, digits and hyphens, with no hyphen at either end'
  }
  return idForm.test(text) ? 'has the form of an id, so it could be taken for one; use a name as the slug' : undefined
}
