import type { Resource } from '../read-resource.ts'

/** A user as the directory's client sees them. `version`: of the row, in microseconds since 1970. */
export type DirectoryUser = {
  id: string
  resource: Resource
  active: boolean
  is_owner: boolean
  created_at: string
  updated_at: string
  version: string
}
