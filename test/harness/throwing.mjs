// Loaded into the service with --import: a signal throws where no code catches, as an error of a library would.
process.on('SIGUSR2', () =>
  setTimeout(() => {
    throw new Error('injected');
  }),
);
process.on('SIGPWR', () => void Promise.reject(new Error('injected')));
