export const me = {
  title: 'Profile and preferences',
}
