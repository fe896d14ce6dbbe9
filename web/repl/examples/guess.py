"""A game that reads lines: the computer guesses a number between 1 and 100."""

low, high = 1, 100
print("Think of a number from 1 to 100. Answer <, > or =.")

while low < high:
    guess = (low + high) // 2
    answer = input(f"Is your number <, > or = {guess}? ").strip()
    if answer == "=":
        low = high = guess
    elif answer == "<":
        high = guess - 1
    elif answer == ">":
        low = guess + 1
    else:
        print("Please answer <, > or =.")

print(f"It is {low}." if low == high else "That cannot be.")
