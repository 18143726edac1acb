import { useEffect, useState } from 'react'

const settleMs = 150

/** The value once it has not changed for a moment, so that a word asks once. */
export function useSettled(value: string): string {
  const [settled, settle] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => settle(value), settleMs)
    return () => clearTimeout(timer)
  }, [value])
  return value === '' ? '' : settled
}
