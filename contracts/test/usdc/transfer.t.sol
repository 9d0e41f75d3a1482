// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract UsdcTransferTest is MarketTest {
    function test_succeeds_whenTransferred() public {
        vm.expectEmit(address(usdc));
        emit IERC20.Transfer(buyer.addr, stranger, 5);
        vm.prank(buyer.addr);
        assertTrue(usdc.transfer(stranger, 5));
        assertBalance(buyer.addr, FUNDS - 5, "sender");
        assertBalance(stranger, 5, "recipient");
    }

    function test_succeeds_whenTransferredToOneself() public {
        vm.prank(buyer.addr);
        usdc.transfer(buyer.addr, FUNDS);
        assertBalance(buyer.addr, FUNDS, "oneself");
    }

    function test_succeeds_whenSpendingAnAllowance() public {
        vm.expectEmit(address(usdc));
        emit IERC20.Approval(buyer.addr, stranger, 10);
        vm.prank(buyer.addr);
        assertTrue(usdc.approve(stranger, 10));
        vm.prank(stranger);
        assertTrue(usdc.transferFrom(buyer.addr, merchant.addr, 4));
        assertEq(usdc.allowance(buyer.addr, stranger), 6);
        assertBalance(merchant.addr, 4, "recipient");
    }

    function test_reverts_whenTheAllowanceIsExceeded() public {
        vm.prank(buyer.addr);
        usdc.approve(stranger, 10);
        vm.expectRevert(revertString("ERC20: transfer amount exceeds allowance"));
        vm.prank(stranger);
        usdc.transferFrom(buyer.addr, stranger, 11);
    }

    function test_reverts_whenTheBalanceIsExceeded() public {
        vm.expectRevert(revertString("ERC20: transfer amount exceeds balance"));
        vm.prank(buyer.addr);
        usdc.transfer(stranger, FUNDS + 1);
    }

    function test_reverts_whenAnEndIsZero() public {
        vm.expectRevert(revertString("ERC20: transfer to the zero address"));
        vm.prank(buyer.addr);
        usdc.transfer(address(0), 1);
        vm.expectRevert(revertString("ERC20: transfer from the zero address"));
        vm.prank(address(0));
        usdc.transfer(stranger, 0);
    }

    function test_reverts_whenAnyoneInvolvedIsBlocked() public {
        bytes memory blocked = revertString("Blacklistable: account is blacklisted");
        vm.prank(buyer.addr);
        usdc.approve(stranger, 10);
        blockAccount(stranger);
        assertTrue(usdc.isBlacklisted(stranger));
        vm.expectRevert(blocked);
        vm.prank(buyer.addr);
        usdc.transfer(stranger, 1);
        vm.expectRevert(blocked);
        vm.prank(stranger);
        usdc.transfer(buyer.addr, 0);
        vm.expectRevert(blocked);
        vm.prank(stranger);
        usdc.transferFrom(buyer.addr, merchant.addr, 1);
        vm.expectRevert(blocked);
        vm.prank(stranger);
        usdc.approve(buyer.addr, 1);
        vm.expectRevert(blocked);
        vm.prank(buyer.addr);
        usdc.approve(stranger, 1);
    }
}
