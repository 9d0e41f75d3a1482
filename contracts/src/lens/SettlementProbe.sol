// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Simulates calls of an account
/// @notice Never deployed: `eth_call` places this code at the account's address by a state override, so that the calls come
/// from that account. The contract has neither storage nor immutables, because a state override would not set them.
contract SettlementProbe {
    /// @notice One call to simulate.
    /// @param target The contract to call
    /// @param gas The gas limit of the call; zero passes all the gas that is left
    /// @param data The calldata: selector and ABI-encoded arguments
    struct Call {
        address target;
        uint256 gas;
        bytes data;
    }

    /// @notice What one call did.
    /// @param ok Whether the call succeeded
    /// @param gasUsed Gas that the call used, before refunds: refunds do not lower the gas limit that a transaction needs
    /// @param data The return data, or the revert data when `ok` is false; cut off after `MAX_DATA` bytes
    struct Outcome {
        bool ok;
        uint256 gasUsed;
        bytes data;
    }

    /// @notice The most bytes of return data that are copied. Without a bound, a call could make the caller pay for the memory
    /// of a long answer.
    uint256 public constant MAX_DATA = 4_096;

    /// @dev What a call needs besides its own gas: copying its data, the first access to an account, and the answer to the
    /// caller.
    uint256 private constant CALL_OVERHEAD = 30_000;

    /// @notice Makes the calls one after the other. Each call sees the state that the calls before it left.
    /// @param calls The calls, in order
    /// @param wallets Accounts whose code is looked up; empty for none
    /// @return timestamp Block timestamp of the simulation, in Unix seconds
    /// @return haveCode For each of `wallets`, whether the account has code
    /// @return outcomes One for each call, in order. Shorter than `calls` when a call could not get its gas: it and all later
    /// ones are left out
    function together(Call[] calldata calls, address[] calldata wallets)
        external
        returns (uint256 timestamp, bool[] memory haveCode, Outcome[] memory outcomes)
    {
        (timestamp, haveCode, outcomes) =
        (block.timestamp, new bool[](wallets.length), new Outcome[](calls.length));
        for (uint256 i = 0; i < wallets.length; ++i) {
            haveCode[i] = wallets[i].code.length != 0;
        }
        for (uint256 i = 0; i < calls.length; ++i) {
            if (!_canGive(calls[i].gas)) {
                assembly ("memory-safe") {
                    mstore(outcomes, i)
                }
                break;
            }
            outcomes[i] = _make(calls[i]);
        }
    }

    /// @dev The EVM silently passes less gas than requested when 1/64 would not remain. A valid call would then appear to fail.
    function _canGive(uint256 gas) private view returns (bool) {
        return gas == 0 || gasleft() >= gas + gas / 63 + CALL_OVERHEAD;
    }

    function _make(Call calldata call) private returns (Outcome memory outcome) {
        address target = call.target;
        uint256 allowed = call.gas == 0 ? type(uint256).max : call.gas;
        bytes memory input = call.data;
        bool ok;
        uint256 size;
        uint256 gasBefore = gasleft();
        assembly ("memory-safe") {
            ok := call(allowed, target, 0, add(input, 0x20), mload(input), 0, 0)
            size := returndatasize()
        }
        uint256 gasUsed = gasBefore - gasleft();
        if (size > MAX_DATA) size = MAX_DATA;
        bytes memory data = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(data, 0x20), 0, size)
        }
        return Outcome(ok, gasUsed, data);
    }
}
