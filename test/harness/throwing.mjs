// Loaded into the service with --import: a signal throws where no code catches it, like an error in a library.
process.on('SIGUSR2', () =>
  setTimeout(() => {
    throw new Error('injected');
  }),
);
process.on('SIGPWR', () => void Promise.reject(new Error('injected')));
