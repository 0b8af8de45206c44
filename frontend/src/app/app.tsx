/** The whole page: providers around routes. */
export function App() {
  return <main>Pilothouse</main>;
}
