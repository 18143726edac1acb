/** A group as the directory's client sees it, without its members. */
export type DirectoryGroup = {
  id: string
  display_name: string
  external_id: string | null
  created_at: string
  updated_at: string
  version: string
}

export type DirectoryMember = { group_id: string; user_id: string }
